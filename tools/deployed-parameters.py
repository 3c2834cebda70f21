#!/usr/bin/env python3
"""Tells which parameters a stack is deployed with.

    deployed-parameters.py SAMCONFIG OUTPUT [COMMAND ...]

SAMCONFIG (samconfig.toml) names the stack, the region and the profile. Its parameters are written to
OUTPUT as a JSON object, {} where there is no such stack. COMMAND is then run with the region and the
credentials in its environment, wherever they come from: a profile, single sign-on, an instance's role.
"""

import json
import os
import sys

import boto3
import botocore.exceptions
import tomlkit

# A stack that has nothing yet, or nothing any more.
NEVER_LIVE = ("REVIEW_IN_PROGRESS", "DELETE_COMPLETE")
# One whose first deployment failed. It can only be deleted.
ROLLED_BACK = ("ROLLBACK_COMPLETE", "ROLLBACK_FAILED")
# One of which an import failed, which may have been its first or not.
IMPORT_FAILED = ("IMPORT_ROLLBACK_COMPLETE", "IMPORT_ROLLBACK_FAILED")


def settings(path):
    """What `sam deploy` is told for the default environment."""
    with open(path, encoding="utf-8") as file:
        default = tomlkit.parse(file.read()).unwrap().get("default", {})
    of = lambda command: default.get(command, {}).get("parameters", {})
    return {**of("global"), **of("deploy")}


def parameters(session, stack):
    """The parameters of a stack, by name. One that never came to be has none."""
    try:
        client = session.client("cloudformation")
        found = client.describe_stacks(StackName=stack)["Stacks"]
        for one in found:
            if one["StackStatus"] in IMPORT_FAILED and not client.list_stack_resources(StackName=stack)["StackResourceSummaries"]:
                one["StackStatus"] = ROLLED_BACK[0]
    except botocore.exceptions.ClientError as error:
        # There is no code of its own for it.
        if error.response["Error"]["Code"] == "ValidationError" and "does not exist" in str(error):
            return {}
        raise
    if any(one["StackStatus"] in ROLLED_BACK for one in found):
        print(
            f"The first deployment of {stack} was rolled back: before another, delete the stack "
            f"(aws cloudformation delete-stack --stack-name {stack}). Its tables are retained.",
            file=sys.stderr,
        )
    live = [one for one in found if one["StackStatus"] not in (*NEVER_LIVE, *ROLLED_BACK)]
    if any(not one.get("Parameters") for one in live):
        # This template has parameters without a default, so every stack of it has some.
        sys.exit(f"error: there is a stack {stack} already, and it is not one of this project's: name another")
    return {
        parameter["ParameterKey"]: parameter["ParameterValue"]
        for one in live
        for parameter in one.get("Parameters", [])
    }


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    config, output, command = sys.argv[1], sys.argv[2], sys.argv[3:]
    told = settings(config)
    if not told.get("stack_name"):
        sys.exit(f"error: {config} names no stack (stack_name of [default.deploy.parameters])")
    try:
        session = boto3.Session(profile_name=told.get("profile"), region_name=told.get("region"))
        if session.region_name is None:
            sys.exit(f"error: {config} names no region, and neither does the environment (AWS_REGION)")
        found = parameters(session, told["stack_name"])
        credentials = session.get_credentials().get_frozen_credentials()
    except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
        sys.exit(f"error: cannot tell what is deployed: {error}")
    with open(output, "w", encoding="utf-8") as file:
        json.dump(found, file, indent=2, sort_keys=True)
        file.write("\n")
    if not command:
        return
    environment = {
        **os.environ,
        "AWS_REGION": session.region_name,
        "AWS_ACCESS_KEY_ID": credentials.access_key,
        "AWS_SECRET_ACCESS_KEY": credentials.secret_key,
    }
    environment.pop("AWS_SESSION_TOKEN", None)
    if credentials.token:
        environment["AWS_SESSION_TOKEN"] = credentials.token
    os.execvpe(command[0], command, environment)


if __name__ == "__main__":
    main()
