"""Finds resources that wait for each other in the template as SAM transforms it.

CloudFormation refuses such a template at deployment, and neither cfn-lint nor sam validate sees it. What a
condition decides counts on both its sides. Runs with the Python of the SAM CLI, which brings the transform.
"""

import os
import re
import sys

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

from samcli.yamlhelper import yaml_parse  # noqa: E402
from samtranslator.translator.transform import transform  # noqa: E402


class NoManagedPolicies:
    """The template names none of AWS's own policies."""

    def load(self):
        return {}


def references(value):
    """The names that a value refers to."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        if key == "Ref":
            yield item
        elif key == "Fn::GetAtt":
            yield item[0] if isinstance(item, list) else item.split(".")[0]
        elif key == "Fn::Sub":
            text, names = (item, {}) if isinstance(item, str) else item
            yield from (name.split(".")[0] for name in re.findall(r"\$\{([^}!]+)\}", text))
            yield from references(names)
        else:
            yield from references(item)


def transformed(path):
    """The resources of a SAM template, as CloudFormation gets them."""
    with open(path, encoding="utf-8") as file:
        template = yaml_parse(file.read())
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"]["CodeUri"] = "s3://bucket/key"
    parameters = {name: value.get("Default", "x") for name, value in template["Parameters"].items()}
    return transform(template, parameters, NoManagedPolicies())["Resources"]


def cycles(resources):
    """Every way from a resource back to itself, once."""
    waits = {}
    for name, resource in resources.items():
        after = resource.get("DependsOn", [])
        after = [after] if isinstance(after, str) else after
        named = references({key: value for key, value in resource.items() if key != "Metadata"})
        waits[name] = [other for other in dict.fromkeys([*after, *named]) if other in resources]
    found, done = [], set()

    def visit(name, path):
        if name in path:
            found.append(" -> ".join([*path[path.index(name) :], name]))
        elif name not in done:
            for other in waits[name]:
                visit(other, [*path, name])
            done.add(name)

    for name in waits:
        visit(name, [])
    return found


def main():
    resources = transformed(sys.argv[1])
    found = cycles(resources)
    for cycle in found:
        print(f"error: {sys.argv[1]}: these wait for each other: {cycle}", file=sys.stderr)
    if found:
        return 1
    print(f"{sys.argv[1]}: no two of {len(resources)} resources wait for each other")
    return 0


if __name__ == "__main__":
    sys.exit(main())
