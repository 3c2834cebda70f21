//! Products and what is said of each: stock, prices, variants, parts, movements.

use fastrand::Rng;
use jiff::ToSpan as _;
use serde_json::{Value, json};

use super::{Items, Tenant, add, amount, at, decimal, instant, pick, version};

/// What the orders are of: id, description, unit price in cents.
pub(super) const SOLD: [(&str, &str, i64); 10] = [
    ("p-101", "Café torrado em grãos 1 kg", 6_490),
    ("p-102", "Pão de queijo congelado 2 kg", 4_290),
    ("p-103", "Açúcar demerara 5 kg", 2_375),
    ("p-104", "Feijão-carioca 1 kg", 899),
    ("p-105", "Óleo de dendê 900 ml", 1_849),
    ("p-106", "Guaraná em lata (caixa com 12)", 3_999),
    ("p-107", "Rapadura 500 g", 1_250),
    ("p-108", "Água de coco 1 l", 1_190),
    ("p-109", "Cachaça artesanal 700 ml", 8_900),
    ("p-110", "Fubá de milho 1 kg", 645),
];

/// What is no longer sold: no order, no movement and no kit names it.
const DISCONTINUED: [(&str, &str, i64); 2] =
    [("p-111", "Lampião a querosene", 5_490), ("p-112", "Fita cassete virgem 60 min", 1_290)];

/// Products of one category. Each name comes in each pack.
struct Range {
    category: &'static str,
    unit: &'static str,
    /// Packs, and what they cost in tenths of the first.
    packs: &'static [(&'static str, i64)],
    /// Names, and what the first pack costs in cents.
    names: &'static [(&'static str, i64)],
}

/// The products `p-001` to `p-090`, in their order.
const RANGES: [Range; 6] = [
    Range {
        category: "Mercearia",
        unit: "un",
        packs: &[(" 500 g", 10), (" 1 kg", 19), (" 5 kg", 88)],
        names: &[
            ("Feijão-preto", 479),
            ("Arroz-agulhinha", 329),
            ("Farinha de mandioca", 545),
            ("Polvilho azedo", 790),
            ("Canjica branca", 415),
            ("Açúcar mascavo", 835),
            ("Grão-de-bico", 960),
            ("Flocão de milho", 299),
        ],
    },
    Range {
        category: "Cafés e chás",
        unit: "un",
        packs: &[(" 250 g", 10), (" 500 g", 19), (" 1 kg", 36)],
        names: &[
            ("Café em grãos do Cerrado", 2_190),
            ("Café moído extraforte", 1_450),
            ("Café descafeinado", 2_680),
            ("Chá-mate tostado", 620),
            ("Erva-mate para chimarrão", 980),
            ("Capim-limão desidratado", 1_140),
        ],
    },
    Range {
        category: "Bebidas",
        unit: "un",
        packs: &[(" 350 ml", 10), (" 1 l", 24), (" 350 ml (caixa com 12)", 108)],
        names: &[
            ("Guaraná", 399),
            ("Suco de caju", 549),
            ("Cajuína", 890),
            ("Refresco de maracujá", 459),
            ("Água com gás", 279),
            ("Cerveja de trigo", 1_290),
        ],
    },
    Range {
        category: "Hortifrúti",
        unit: "kg",
        packs: &[("", 10)],
        names: &[
            ("Maçã-gala", 1_190),
            ("Mamão-papaia", 899),
            ("Limão-taiti", 549),
            ("Abóbora-cabotiá", 479),
            ("Maracujá-azedo", 1_390),
            ("Polpa de açaí", 2_990),
            ("Polpa de cupuaçu", 3_450),
            ("Jabuticaba", 2_190),
            ("Pimentão-vermelho", 1_590),
            ("Batata-doce", 529),
        ],
    },
    Range {
        category: "Vestuário",
        unit: "un",
        packs: &[("", 10)],
        names: &[
            ("Camiseta de algodão orgânico", 7_990),
            ("Avental bordado à mão", 8_450),
            ("Boné de lona", 5_990),
            ("Calça de linho", 18_990),
            ("Vestido de chita", 15_900),
            ("Jaqueta corta-vento", 22_900),
            ("Camisa de botão", 12_990),
            ("Bermuda de sarja", 9_990),
            ("Meião de futebol", 3_490),
            ("Chapéu de palha", 4_990),
        ],
    },
    Range {
        category: "Casa",
        unit: "un",
        packs: &[("", 10)],
        names: &[
            ("Panela de barro capixaba", 13_900),
            ("Moringa de cerâmica", 7_650),
            ("Filtro de barro 8 l", 24_900),
            ("Cuscuzeira de alumínio", 6_890),
            ("Coador de pano", 990),
            ("Tábua de corte", 5_400),
            ("Cesto de palha de carnaúba", 8_200),
            ("Vassoura de piaçava", 2_390),
            ("Sabão de coco", 459),
            ("Vela de citronela", 1_890),
        ],
    },
];

/// Products made of others: id, name, price in cents, and the parts with their quantity.
type Kit = (&'static str, &'static str, i64, &'static [(&'static str, i64)]);

const KITS: [Kit; 4] = [
    ("kit #1 café", "Kit café da manhã", 11_900, &[("p-101", 1), ("p-102", 1), ("p-103", 1), ("p-085", 2)]),
    ("kit #2 são joão", "Kit São João", 9_790, &[("p-107", 2), ("p-110", 3), ("p-013", 1)]),
    ("kit 1/2 dúzia", "Meia dúzia de guaranás", 2_190, &[("p-043", 6)]),
    (
        "kit cesta básica",
        "Cesta básica",
        18_950,
        &[
            ("p-002", 2),
            ("p-005", 1),
            ("p-007", 1),
            ("p-024", 1),
            ("p-029", 1),
            ("p-103", 1),
            ("p-105", 1),
            ("p-110", 2),
        ],
    ),
];

const SIZES: [&str; 5] = ["PP", "P", "M", "G", "GG"];

const COLOURS: [[&str; 3]; 2] = [["algodão-cru", "azul-índigo", "açafrão"], ["café", "verde-limão", "rosé"]];

struct Product {
    id: String,
    /// Its name, without that of the tenant's brand.
    name: String,
    category: &'static str,
    unit: &'static str,
    cents: i64,
    status: &'static str,
    parts: &'static [(&'static str, i64)],
    /// How often it was moved.
    moved: usize,
}

pub(super) fn items(tenant: Tenant) -> Vec<Items> {
    let mut rng = tenant.rng(1);
    let mut made = Made::default();
    for (place, product) in products().iter().enumerate() {
        made.products.push(stored(tenant, product, &mut rng));
        made.prices(tenant, place, product, &mut rng);
        if product.category == "Vestuário" {
            made.variants(tenant, product, &mut rng);
        }
        made.boms(tenant, product, &mut rng);
        let on_hand = made.movements(tenant, product, &mut rng);
        made.stock.push(stock(tenant, product, on_hand, &mut rng));
    }
    vec![
        Items { table: "Product", items: made.products },
        Items { table: "Stock", items: made.stock },
        Items { table: "Price", items: made.prices },
        Items { table: "Variant", items: made.variants },
        Items { table: "Bom", items: made.boms },
        Items { table: "Movement", items: made.movements },
    ]
}

/// The products that both tenants have.
fn products() -> Vec<Product> {
    let mut products = Vec::new();
    for range in &RANGES {
        for (name, cents) in range.names {
            for (pack, tenths) in range.packs {
                let place = products.len();
                products.push(Product {
                    id: format!("p-{:03}", place + 1),
                    name: format!("{name}{pack}"),
                    category: range.category,
                    unit: range.unit,
                    cents: cents * tenths / 10,
                    status: if place % 17 == 16 { "INACTIVE" } else { "ACTIVE" },
                    parts: &[],
                    moved: if place == 0 { 130 } else { 1 + place * 5 % 4 },
                });
            }
        }
    }
    let other = |id: &str, name: &str, category, cents, status, parts, moved| Product {
        id: id.to_owned(),
        name: name.to_owned(),
        category,
        unit: "un",
        cents,
        status,
        parts,
        moved,
    };
    products.extend(SOLD.map(|(id, name, cents)| other(id, name, "Mercearia", cents, "ACTIVE", &[][..], 6)));
    products.extend(
        DISCONTINUED.map(|(id, name, cents)| other(id, name, "Casa", cents, "DISCONTINUED", &[][..], 0)),
    );
    products.extend(KITS.map(|(id, name, cents, parts)| other(id, name, "Kits", cents, "ACTIVE", parts, 4)));
    products
}

fn stored(tenant: Tenant, product: &Product, rng: &mut Rng) -> Value {
    let brand = tenant.own(["Serra Alta", "Sítio Novo"]);
    let supplier = tenant.own([
        [
            ("f-01", "Laticínios Boa Manhã Ltda."),
            ("f-02", "Grãos do Planalto S.A."),
            ("f-03", "Empório Jaçanã"),
        ],
        [
            ("f-01", "Comércio Ribeirão ME"),
            ("f-02", "Cooperativa Açucareira do Vale"),
            ("f-03", "Irmãos Müller"),
        ],
    ]);
    let (supplier, supplier_name) = rng.choice(supplier).unwrap_or_default();
    let created = at("2024-01-02T12:00:00Z") + rng.i64(0..30_000_000_000).milliseconds();
    let updated = created + rng.i64(1..40_000_000_000).milliseconds();
    let mut tags: Vec<&str> = rng.choose_multiple(["orgânico", "sem glúten", "artesanal", "importado"], 2);
    tags.push("promoção");
    json!({
        "tenant": { "S": tenant.name },
        "id": { "S": product.id },
        "name": { "S": format!("{}, {brand}", product.name) },
        "category": { "S": product.category },
        "unit": { "S": product.unit },
        "status": { "S": product.status },
        "price": { "N": amount(product.cents) },
        // What it costs is kept to a hundredth of a cent.
        "cost": { "N": decimal(product.cents * rng.i64(48..74) + rng.i64(0..100), 4) },
        "tags": { "SS": tags },
        "packSizes": { "NS": ["1", "6", "12"] },
        "supplier": { "M": { "id": { "S": supplier }, "name": { "S": supplier_name } } },
        "fiscal": { "M": {
            "ncm": { "S": format!("{:04}.{:02}.00", rng.u32(101..9_700), rng.u32(10..100)) },
            "icms": { "N": pick(rng, ["0.07", "0.12", "0.18"]) },
            "pis": { "N": "0.0165" },
            "cofins": { "N": "0.076" },
        } },
        "weighed": { "BOOL": product.unit == "kg" },
        "createdAt": { "S": instant(created) },
        "updatedAt": { "S": instant(updated) },
        "version": { "S": version(updated, rng) },
    })
}

/// Quantities are in thousandths.
fn stock(tenant: Tenant, product: &Product, on_hand: i64, rng: &mut Rng) -> Value {
    let in_shop = on_hand / 3_000 * 1_000;
    let [store, shop] = tenant.own([["Depósito Guarulhos", "Loja Sé"], ["Galpão Olinda", "Loja São José"]]);
    let mut item = json!({
        "tenant": { "S": tenant.name },
        "productId": { "S": product.id },
        "onHand": { "N": decimal(on_hand, 3) },
        "reserved": { "N": decimal(on_hand / 10_000 * 1_000, 3) },
        "minimum": { "N": rng.i64(1..40).to_string() },
        "unit": { "S": product.unit },
        "locations": { "M": {
            store: { "N": decimal(on_hand - in_shop, 3) },
            shop: { "N": decimal(in_shop, 3) },
        } },
        "countedAt": { "S": format!("2026-{:02}-{:02}", rng.u32(1..=6), rng.u32(1..=28)) },
    });
    if on_hand > 0 {
        // A set is never empty.
        let lots = [rng.u32(1..500), rng.u32(500..1_000)].map(|lot| format!("L26{lot:03}"));
        add(&mut item, "lots", json!({ "SS": lots }));
    }
    item
}

/// Rows of one tenant. Each table numbers its own.
#[derive(Default)]
struct Made {
    products: Vec<Value>,
    stock: Vec<Value>,
    prices: Vec<Value>,
    variants: Vec<Value>,
    boms: Vec<Value>,
    movements: Vec<Value>,
}

impl Made {
    /// One price for all, and for some products others: for resellers, for a while, before a rise.
    fn prices(&mut self, tenant: Tenant, place: usize, product: &Product, rng: &mut Rng) {
        let lists = [
            (true, "RETAIL", 1, 1_000, "2026-01-01", None),
            (place.is_multiple_of(2), "WHOLESALE", 12, rng.i64(860..930), "2026-01-01", None),
            (place.is_multiple_of(3), "RETAIL", 1, rng.i64(900..990), "2025-01-01", Some("2025-12-31")),
            (place.is_multiple_of(5), "PROMOTION", 1, rng.i64(700..850), "2026-06-12", Some("2026-07-12")),
        ];
        for (_, list, minimum, thousandths, from, to) in lists.into_iter().filter(|(given, ..)| *given) {
            let mut item = json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("price-{:04}", self.prices.len() + 1) },
                "productId": { "S": product.id },
                "list": { "S": list },
                "amount": { "N": decimal(product.cents * thousandths, 5) },
                "currency": { "S": "BRL" },
                "minimumQuantity": { "N": minimum.to_string() },
                "validFrom": { "S": from },
                "channels": { "SS": tenant.own([["balcão", "site"], ["representante", "televendas"]]) },
            });
            if let Some(to) = to {
                add(&mut item, "validTo", json!({ "S": to }));
            }
            self.prices.push(item);
        }
    }

    /// Every size in every colour.
    fn variants(&mut self, tenant: Tenant, product: &Product, rng: &mut Rng) {
        for colour in tenant.own(COLOURS) {
            for (place, size) in (0..).zip(SIZES) {
                let number = self.variants.len() + 1;
                self.variants.push(json!({
                    "tenant": { "S": tenant.name },
                    "id": { "S": format!("variant-{number:04}") },
                    "productId": { "S": product.id },
                    "sku": { "S": format!("{}-{size}-{}", product.id.to_uppercase(), rng.u32(100..1_000)) },
                    "attributes": { "M": { "size": { "S": size }, "colour": { "S": colour } } },
                    "priceDifference": { "N": amount((place - 2) * 250) },
                    "measuresCm": { "NS": [decimal(460 + place * 35, 1), decimal(680 + place * 25, 1)] },
                    "active": { "BOOL": rng.u32(..10) > 0 },
                }));
            }
        }
    }

    /// One item for each part of a kit.
    fn boms(&mut self, tenant: Tenant, product: &Product, rng: &mut Rng) {
        for (position, (part, quantity)) in (1..).zip(product.parts) {
            let number = self.boms.len() + 1;
            self.boms.push(json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("bom-{number:04}") },
                "productId": { "S": product.id },
                "position": { "N": i64::to_string(&position) },
                "part": { "M": { "productId": { "S": part }, "unit": { "S": "un" } } },
                "quantity": { "N": quantity.to_string() },
                "lossRate": { "N": decimal(rng.i64(1..400), 4) },
                "note": { "S": tenant.own(["conferir a validade", "embalar à parte"]) },
            }));
        }
    }

    /// Moves a product in and out, never more out than there is. Answers what is left, in thousandths.
    fn movements(&mut self, tenant: Tenant, product: &Product, rng: &mut Rng) -> i64 {
        let mut balance = 0_i64;
        let mut moved = at("2025-01-06T08:00:00Z") + rng.i64(0..2_000_000_000).milliseconds();
        for place in 0..product.moved {
            // What is counted comes in whole, what is weighed to the gram.
            let mut most = |most: i64| match product.unit {
                "kg" => rng.i64(1..=most),
                _ => rng.i64(1..=most / 1_000) * 1_000,
            };
            let incoming = most(90_000);
            let outgoing = most(30_000).min(balance);
            let (kind, quantity) = match rng.u32(..100) {
                _ if place == 0 => ("INVENTORY", incoming),
                0..15 if outgoing >= 1_000 => ("LOSS", -1_000),
                0..70 if outgoing > 0 => ("OUT", -outgoing),
                _ => ("IN", incoming),
            };
            balance += quantity;
            moved += rng.i64(1..240_000_000).milliseconds();
            let cost = product.cents * rng.i64(48..74) + rng.i64(0..100);
            let number = self.movements.len() + 1;
            self.movements.push(json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("movement-{number:05}") },
                "productId": { "S": product.id },
                "kind": { "S": kind },
                "at": { "S": instant(moved) },
                "quantity": { "N": decimal(quantity, 3) },
                "balance": { "N": decimal(balance, 3) },
                "unitCost": { "N": decimal(cost, 4) },
                // All the digits of the product, none rounded off.
                "value": { "N": decimal(quantity * cost, 7) },
                "document": { "M": {
                    "kind": { "S": pick(rng, ["NF-e", "romaneio", "requisição"]) },
                    "number": { "N": rng.u32(1..99_999).to_string() },
                } },
                "by": { "S": tenant.own(["joão.estoque", "íris.galpão"]) },
            }));
        }
        balance
    }
}
