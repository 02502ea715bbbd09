/**
 * Short answers as a model gives them, written for this measurement alone. No rate was fitted to
 * them, and none may be: a text that comes close to its bound stays as it is.
 */
export const HELD_OUT_TEXTS: Readonly<Record<string, string>> = {
  'English, informal': `Hey! So glad you asked :) Honestly, I'd skip the big tour on day one – jet lag's gonna
hit you hard. Grab a coffee near the old harbour, wander a bit, maybe nap till four? Then dinner at
Lupo's (book ahead, it's tiny!!) and an early night. Day two's when you do the museum & the hill. Oh
and don't forget: most shops close on Mondays, which nobody tells you... P.S. the bus is cheaper than
the train, but it doesn't run after 11pm, so plan for a cab. Have fun, and send pics!`,
  'English, technical': `Photosynthetic carbon fixation begins with ribulose-1,5-bisphosphate carboxylase/oxygenase
(RuBisCO), whose oxygenase side reaction necessitates photorespiration. Under elevated temperature,
stomatal conductance decreases, intercellular CO2 falls, and the carboxylation:oxygenation ratio
deteriorates. C4 metabolism circumvents this by concentrating carbon dioxide in bundle-sheath cells;
phosphoenolpyruvate carboxylase, insensitive to oxygen, performs the initial assimilation within the
mesophyll. Crassulacean acid metabolism instead separates the two steps temporally.`,
  Spanish: `La ciudad despertó bajo una lluvia fina que apenas mojaba los adoquines. En la panadería de la esquina,
Inés sacaba del horno la segunda bandeja de medialunas mientras escuchaba las noticias: el río había
crecido medio metro durante la noche y las escuelas del barrio bajo permanecerían cerradas. Pensó en
su hermano, que vivía junto al puente, y decidió llamarlo en cuanto terminara de atender a la primera
clienta. «¿Lo de siempre, señora Núñez?», preguntó, y la anciana asintió con una sonrisa cansada.`,
  Italian: `Per preparare una buona pasta e ceci occorre prima di tutto pazienza. I legumi vanno lasciati in ammollo
per una notte intera, poi cotti a fuoco lento con un rametto di rosmarino, due spicchi d'aglio e
qualche foglia di alloro. Soltanto quando saranno teneri se ne frulla un terzo, così che il brodo
diventi cremoso senza bisogno di panna. La pasta, preferibilmente corta, cuoce direttamente nella
pentola; si serve con un filo d'olio extravergine e parecchio pepe nero macinato al momento.`,
  Portuguese: `O relatório trimestral mostra que as exportações de café cresceram nove por cento, apesar da estiagem que
atingiu o sul de Minas. Os produtores atribuem o resultado à renovação das lavouras iniciada há cinco
anos e à valorização dos grãos especiais no mercado europeu. Ainda assim, a cooperativa recomenda
cautela: os custos com fertilizantes não param de subir, e ninguém sabe ao certo como serão as chuvas
de outubro. A próxima reunião discutirá a criação de um fundo de reserva.`,
  Dutch: `De gemeenteraad heeft donderdagavond ingestemd met het voorstel om de binnenstad vanaf volgend voorjaar
grotendeels autovrij te maken. Bewoners behouden hun parkeervergunning, maar bezoekers worden naar de
ondergrondse garage bij het station verwezen. Ondernemers vrezen omzetverlies en hebben om een
overgangsregeling gevraagd; de wethouder beloofde na een halfjaar een tussentijdse evaluatie. Of het
plan daadwerkelijk minder fijnstof oplevert, zal uit luchtkwaliteitsmetingen moeten blijken.`,
  Swedish: `När isen äntligen släppte i slutet av april låg båtarna redan uppradade på bryggan. Göran hade skrapat
skrovet hela påskhelgen, och hans dotter målade vattenlinjen med en omsorg som fick grannarna att
stanna till. De skulle segla till de yttre öarna, precis som förr, med kaffetermos, kanelbullar och ett
sjökort som var äldre än dem båda. Vädertjänsten lovade svag sydvästlig vind, uppehåll och stigande
lufttryck; bättre förutsättningar kunde man knappast önska sig.`,
  Finnish: `Kesämökille päästyämme huomasimme heti, että myrsky oli kaatanut vanhan koivun suoraan saunapolun
päälle. Isoisä haki moottorisahan vajasta, ja iltapäivään mennessä runko oli pilkottu talven
polttopuiksi. Lapset keräsivät risut kokkoa varten ja juoksivat sitten uimaan, vaikka järvivesi oli
vielä hyytävän kylmää. Illalla paistoimme muikkuja avotulella, kuuntelimme kuikan huutoa ja
suunnittelimme huomista kalastusretkeä vastarannan ruovikkoon.`,
  Hungarian: `A könyvtár legfelső emeletén, ahová ritkán tévedt látogató, egy porlepte szekrényben találtuk meg a
térképeket. Mindegyiket kézzel rajzolták, finom tussal, és a szélükön apró betűkkel írt megjegyzések
sorakoztak a falvak lakosságáról, a malmokról és az átkelőhelyekről. A legrégebbi lap tanúsága szerint
a folyó akkoriban két kilométerrel északabbra kanyargott. Megkértük a levéltárost, hogy engedélyezze a
digitalizálást, mielőtt a papír végképp szétmállik.`,
  Czech: `Když jsme dorazili na nádraží, poslední vlak už dávno odjel a čekárna byla zamčená. Naštěstí se nás ujal
výpravčí, starší pán s hustým knírem, který nám uvařil čaj a pustil k vytápění starý přímotop. Vyprávěl
o zimě, kdy závěje dosahovaly až ke střeše a parní lokomotiva uvízla před tunelem na celé tři dny.
Ráno jsme mu nechali na stole čokoládu a lístek s poděkováním; příští spoj přijel přesně podle jízdního
řádu.`,
  Arabic: `وصلت القافلة إلى الواحة قبل غروب الشمس بقليل، فنزل المسافرون عن جمالهم وملؤوا قربهم من البئر القديمة.
كان الشيخ يجلس تحت نخلة عالية ويستقبل الضيوف بالتمر والقهوة، ثم يسألهم عن أخبار المدن البعيدة وأسعار
القماش والتوابل. وعندما حل الليل أشعلوا نارا كبيرة، وبدأ الشاعر ينشد قصيدة طويلة عن البحر الذي لم يره
أحد منهم من قبل.`,
  Hebrew: `בבוקר יום שישי השוק התמלא באנשים שקנו ירקות, גבינות וחלות לשבת. הסבתא שלי תמיד התווכחה עם המוכר על
מחיר העגבניות, ובסוף קיבלה ממנו גם צרור נענע במתנה. אחר כך ישבנו בבית הקפה הקטן ליד תחנת האוטובוס,
שתינו תה מתוק וקראנו יחד את העיתון. היא סיפרה לי על העיר שבה נולדה ועל הדרך הארוכה שעברה עד שהגיעה
לכאן.`,
  Persian: `پدربزرگ هر صبح زود بیدار می‌شد، سماور را روشن می‌کرد و کنار پنجره می‌نشست تا آمدن گنجشک‌ها را تماشا
کند. می‌گفت باغ بدون صدای پرنده‌ها مثل خانه‌ای است که مهمان ندارد. آن سال زمستان سردی داشتیم و شاخه‌های
انار یخ زده بود، اما او با حوصله دورشان را با کاه و گونی پوشاند و تا بهار از آن‌ها مراقبت کرد.`,
  Hindi: `गाँव के बाहर पीपल के पेड़ के नीचे हर शाम बच्चे इकट्ठा होते थे और बूढ़े काका उन्हें कहानियाँ सुनाते थे।
कभी वे उस राजा की बात करते जिसने प्यासे यात्रियों के लिए सौ कुएँ खुदवाए थे, और कभी उस चतुर लोमड़ी की,
जिसने बिना लड़े पूरा जंगल बचा लिया। बारिश शुरू होते ही सब लोग दौड़कर मंदिर के बरामदे में चले जाते और
वहीं बैठकर गरम चाय के साथ बाकी कहानी पूरी होती।`,
  Bengali: `নদীর ধারের ছোট গ্রামটিতে বর্ষাকালে নৌকা ছাড়া কোথাও যাওয়া যেত না। সকালে মাঝি ডাক দিত, আর আমরা বইখাতা
প্লাস্টিকে মুড়ে স্কুলে রওনা হতাম। পথে শাপলা তুলতে গিয়ে একবার আমার বন্ধু জলে পড়ে গিয়েছিল, তবে সে সাঁতার
জানত বলে সবাই হেসে উঠেছিল। সন্ধ্যায় ফিরে এসে মায়ের হাতের খিচুড়ি আর ভাজা ইলিশ খেতে খেতে সেই গল্প শোনাতাম।`,
  Tamil: `மழைக்காலம் தொடங்கியதும் ஏரி நிரம்பி வழிந்தது, வயல்கள் பச்சைப் பசேலென்று காட்சியளித்தன. தாத்தா அதிகாலையில்
எழுந்து மாடுகளை மேய்ச்சலுக்கு ஓட்டிச் செல்வார், நானும் அவருடன் நடந்து செல்வேன். வழியில் அவர் ஒவ்வொரு மரத்தின்
பெயரையும் அதன் பயனையும் சொல்லித் தருவார். இன்றும் வேப்பமரத்தைப் பார்க்கும்போது அவருடைய குரல் நினைவுக்கு வருகிறது.`,
  Thai: `ตลาดน้ำเปิดตั้งแต่เช้ามืด แม่ค้าพายเรือมาขายผักสด ขนมหวาน และก๋วยเตี๋ยวร้อนๆ นักท่องเที่ยวยืนถ่ายรูปอยู่บนสะพานไม้
ส่วนเด็กๆ วิ่งเล่นริมคลองอย่างสนุกสนาน คุณยายคนหนึ่งเล่าให้ฟังว่า เมื่อห้าสิบปีก่อนที่นี่ยังไม่มีถนน ทุกคนต้องเดินทางด้วยเรือเท่านั้น
แม้ว่าทุกวันนี้จะสะดวกสบายขึ้นมาก แต่ท่านก็ยังคิดถึงความเงียบสงบในสมัยก่อน`,
  Vietnamese: `Buổi sáng ở phố cổ thường bắt đầu bằng tiếng rao của người bán xôi và mùi cà phê rang thơm lừng từ quán đầu
ngõ. Bà cụ ngồi bên bậc cửa nhặt rau, thỉnh thoảng ngẩng lên chào những người hàng xóm đi tập thể dục
về. Đến khoảng bảy giờ, xe máy nối đuôi nhau kín cả con đường hẹp, nhưng chỉ cần rẽ vào sân đình là mọi
ồn ào dường như biến mất, chỉ còn tiếng chim và tiếng chổi tre quét lá.`,
  Indonesian: `Setelah hujan reda, anak-anak berlarian ke tepi sungai untuk melihat perahu kertas yang mereka lepaskan
kemarin sore. Ibu Sari menjemur kembali cucian yang sempat basah, sedangkan Pak Darma memperbaiki atap
warung dengan seng bekas. Malam nanti akan diadakan pertunjukan wayang di balai desa, sehingga para
pemuda sibuk menyiapkan panggung, lampu, dan pengeras suara. Semua warga diharapkan membawa makanan
ringan untuk dinikmati bersama-sama.`,
  Python: `from collections import defaultdict
import heapq


class Graph:
    """A weighted, undirected graph with string labels."""

    def __init__(self) -> None:
        self._edges: dict[str, list[tuple[float, str]]] = defaultdict(list)

    def connect(self, a: str, b: str, weight: float = 1.0) -> None:
        self._edges[a].append((weight, b))
        self._edges[b].append((weight, a))

    def shortest(self, start: str, goal: str) -> list[str] | None:
        queue, seen = [(0.0, start, [start])], set()
        while queue:
            cost, node, path = heapq.heappop(queue)
            if node == goal:
                return path
            if node in seen:
                continue
            seen.add(node)
            for weight, other in self._edges[node]:
                heapq.heappush(queue, (cost + weight, other, path + [other]))
        return None
`,
  Rust: `use std::{collections::BTreeMap, sync::{Arc, RwLock}};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry<T> { Fresh(T), Stale { value: T, age_secs: u64 } }

pub struct Cache<K, V> { inner: Arc<RwLock<BTreeMap<K, (V, std::time::Instant)>>>, ttl_secs: u64 }

impl<K: Ord + Clone, V: Clone> Cache<K, V> {
    pub fn get(&self, key: &K) -> Option<Entry<V>> {
        let guard = self.inner.read().ok()?;
        let (value, stored) = guard.get(key)?;
        let age_secs = stored.elapsed().as_secs();
        Some(if age_secs < self.ttl_secs { Entry::Fresh(value.clone()) }
             else { Entry::Stale { value: value.clone(), age_secs } })
    }
}
`,
  SQL: `WITH monthly AS (
  SELECT customer_id, date_trunc('month', ordered_at) AS month, SUM(quantity * unit_price) AS revenue
  FROM orders o JOIN order_items i USING (order_id)
  WHERE o.status NOT IN ('cancelled', 'refunded') AND ordered_at >= now() - INTERVAL '13 months'
  GROUP BY 1, 2
)
SELECT customer_id, month, revenue,
       revenue - LAG(revenue) OVER (PARTITION BY customer_id ORDER BY month) AS change,
       ROUND(100.0 * revenue / NULLIF(SUM(revenue) OVER (PARTITION BY month), 0), 2) AS share_pct
FROM monthly ORDER BY month DESC, revenue DESC LIMIT 50;
`,
  'HTML and CSS': `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Timetable</title>
<style>
.grid{display:grid;grid-template-columns:repeat(7,minmax(0,1fr));gap:4px;padding:0 12px}
.grid>li{border-radius:6px;background:#f4f6fb;color:#1d2733;font:600 13px/1.4 system-ui}
@media (max-width:640px){.grid{grid-template-columns:1fr 1fr}}
</style></head>
<body><ul class="grid" id="days" data-start="2031-03-03"></ul>
<script type="module">document.querySelector('#days').innerHTML=[...'MTWTFSS'].map((d,i)=>\`<li>\${d}\${i+1}</li>\`).join('')</script>
</body></html>
`,
  'shell and logs': `$ tail -n 5 /var/log/nginx/access.log | awk '{print $1, $7, $9}'
203.0.113.7 /static/app.7f3c9a1b.js 200
198.51.100.23 /api/v2/items?page=3&sort=-created 304
2031-03-04T05:06:07.891Z WARN [pool-3-thread-12] c.e.store.RetryPolicy - attempt 4/5 failed: ECONNRESET (0x68)
$ find . -name '*.tmp' -mtime +7 -print0 | xargs -0 rm -f && df -h / | sed -n 2p
/dev/nvme0n1p2  468G  312G  133G  71% /
$ curl -sSL --retry 3 -H 'Accept: application/json' https://example.org/health | jq -r '.status'
ok
`,
  'YAML and JSON': `services:
  web: { image: "registry.example.org/web:4.18.2", ports: ["8080:80"], restart: unless-stopped }
  db:
    image: postgres:18-alpine
    environment: { POSTGRES_PASSWORD_FILE: /run/secrets/db, PGDATA: /var/lib/pg }
    healthcheck: { test: ["CMD", "pg_isready", "-q"], interval: 5s, retries: 12 }
---
{"id":"a91","tags":["new","sale"],"price":{"amount":1299,"currency":"EUR"},"stock":null,"dims":[12.5,8,0.75],"active":true,"notes":""}
{"id":"a92","tags":[],"price":{"amount":85,"currency":"EUR"},"stock":40,"dims":[3,3,3],"active":false,"notes":"n/a"}
`,
  'digits of pi and e': `3.14159265358979323846264338327950288419716939937510582097494459230781640628620899
2.71828182845904523536028747135266249775724709369995957496696762772407663035354759
1.41421356237309504880168872420969807856967187537694807317667973799073247846210703`,
  'numbers in text': `Invoice 2031-00417, dated 04/03/2031, due 30 days net: 12 x 149.90 = 1,798.80; 3 x 27.45 = 82.35; freight
18.00; subtotal 1,899.15; VAT 19 % 360.84; total 2,259.99 EUR. IBAN DE02 1203 0000 0000 2020 51, BIC BYLADEM1001,
phone +49 30 901820-0, ext. 417. Meter readings: 00918273, 00918411, 00918560. Coordinates 52.516275 N,
13.377704 E; elevation 34 m; 2 h 45 min; 98.6 F = 37.0 C; ratio 16:9; 0x1F4A9; 1e-9; 10^12.`,
  'emoji in a chat': `omg YES 🎂🥳 happy birthday!! 💛💛💛 can't believe it's been a year already 😭 remember the beach 🏖️ and that
seagull who stole your fries 🍟🐦😂😂 we're doing it again this summer right?? ☀️🌊 i'll bring the tent ⛺ you bring
the cards ♠️♥️ mum says hi 👋🏼 and sends 🧁🧁 also 👩‍👩‍👧‍👦 photo pls! 🇮🇹✈️ booked btw 🤫🔥 love u 🫶🏽✨`,
  'emoji alone': `🍏🍌🥑🍞🧀🥐🍳🥞🧇🥓🍔🌭🍕🥪🌮🌯🥗🍝🍜🍲🍣🍱🥟🍤🍙🍚🍧🍨🍩🍪🎂🍰🧁🥧🍫🍬🍭🍮🍯🥛☕🍵🧃🥤🧋🍺🍷🍸🚗🚕🚌🚎🏎️🚓🚑🚒🚐🛻🚚🚜🛵🏍️🚲🛴🚨🚔🚍🚘🚖🚡🚠🚟🚃🚋🚞🚝🚄🚅🚈🚂🚆🚇🚊🚉✈️🛫🛬💺🚁🛶⛵🚤🛥️🚢⚓`,
  'mathematics in LaTeX': `Let $f\\colon\\mathbb{R}^n\\to\\mathbb{R}$ be convex and $L$-smooth. Gradient descent
$x_{k+1}=x_k-\\tfrac{1}{L}\\nabla f(x_k)$ satisfies
\\[ f(x_k)-f(x^\\ast)\\le\\frac{2L\\lVert x_0-x^\\ast\\rVert^2}{k+4},\\qquad k\\ge 0. \\]
\\begin{proof} By smoothness, $f(y)\\le f(x)+\\langle\\nabla f(x),y-x\\rangle+\\frac{L}{2}\\lVert y-x\\rVert_2^2$ for
all $x,y$. Put $\\delta_k=f(x_k)-f(x^\\ast)$; then $\\delta_{k+1}\\le\\delta_k-\\frac{\\delta_k^2}{2L R^2}$. \\end{proof}`,
  'mathematics in Unicode': `∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε. Σᵢ₌₁ⁿ i² = n(n+1)(2n+1)⁄6; ∫₀^∞ e^(−x²) dx = √π⁄2; ∇·E = ρ⁄ε₀, ∮B·dl = μ₀I;
A∪(B∩C) = (A∪B)∩(A∪C); ¬(p∧q) ≡ ¬p∨¬q; x ∈ ℝ∖ℚ; α ≤ β ≠ γ; ⌊x⌋ ≤ x < ⌊x⌋+1; 37 °C ± 0.5; ½ ≈ ⅓ + ⅙; a → b ↔ c; ⟨ψ|Ĥ|ψ⟩ ≥ E₀`,
  'a Markdown table': `| Plan | Seats | Storage | Price / month | Support |
|:-----|------:|--------:|--------------:|:--------|
| Free | 1 | 2 GB | – | Forum |
| Team | 10 | 200 GB | €29 | E-mail, 48 h |
| Business | 50 | 2 TB | €119 | Chat, 8 h |
| Enterprise | ∞ | custom | on request | **24/7**, named contact |

- [x] Export to *CSV* / \`JSON\`
- [ ] Single sign-on (~~SAML~~ OIDC)

> Prices exclude VAT. See [the terms](https://example.org/terms#billing "Billing").
`,
  'addresses and identifiers': `https://shop.example.org/de/produkte/regenjacke-damen?farbe=dunkelblau&groesse=M&utm_source=newsletter#bewertungen
git+ssh://git@example.org:2222/team/infra-modules.git@v2.14.0-rc.1
550e8400-e29b-41d4-a716-446655440000 01J9ZK3M8Q7W5XH2T6V4B0C1DE 9f86d081884c7d659a2feaa0c55ad015
anna-lena.mueller+orders@mail.example.com  C:\\Users\\amueller\\AppData\\Local\\Temp\\~DF3A91.tmp
AKx9-77QZ-P0LM  SKU#44-0917/B  7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU  eyJhbGciOiJFUzI1NiJ9`,
  'Greek, a recipe': `Για τη σπανακόπιτα χρειάζεστε ένα κιλό φρέσκο σπανάκι, δύο ματσάκια κρεμμυδάκια, άνηθο και τριακόσια
γραμμάρια φέτα. Ζεματίστε το σπανάκι, στραγγίστε το πολύ καλά και ανακατέψτε το με τα υπόλοιπα υλικά.
Λαδώστε ένα μεγάλο ταψί, στρώστε τα μισά φύλλα, απλώστε τη γέμιση και σκεπάστε με τα υπόλοιπα. Ψήστε
στους εκατόν ογδόντα βαθμούς, ώσπου να ροδίσει η επιφάνεια, και αφήστε την να κρυώσει πριν την κόψετε.`,
  'Greek, an explanation': `Η φωτοσύνθεση είναι η διαδικασία με την οποία τα φυτά μετατρέπουν την ηλιακή ενέργεια σε χημική. Τα
μόρια της χλωροφύλλης απορροφούν κυρίως το κόκκινο και το μπλε φως, γι’ αυτό τα φύλλα φαίνονται πράσινα.
Κατά τη διάρκειά της δεσμεύεται διοξείδιο του άνθρακα και απελευθερώνεται οξυγόνο, απαραίτητο για την
αναπνοή των περισσότερων οργανισμών. Χωρίς αυτήν, η σύσταση της ατμόσφαιρας θα ήταν εντελώς διαφορετική.`,
  'Ukrainian, advice': `Якщо договір оренди не передбачає іншого, власник зобов'язаний попередити мешканців про підвищення плати
щонайменше за місяць. Радимо зберігати всі квитанції та листування, адже саме вони стануть доказом у
разі суперечки. Перед в'їздом складіть акт приймання з описом меблів, лічильників і наявних пошкоджень.
Заставу повертають протягом десяти днів після виїзду, якщо помешкання залишено в належному стані.`,
  'Russian, a letter': `Здравствуй, дорогая Надя! Наконец-то нашлось время ответить на твоё длинное письмо. У нас всю неделю
лили дожди, огород раскис, зато грибов в лесу столько, что соседи возят их вёдрами. Мишка пошёл в
первый класс и уже умудрился подраться, помириться и потерять сменную обувь. Приезжай на Покров, пока
не замело дороги: натопим баню, нажарим картошки и наговоримся за все эти годы.`,
  'Bulgarian, news': `Общинският съвет одобри удължаването на трамвайната линия до новия жилищен квартал. Строителството ще
започне през пролетта и според кмета ще отнеме около две години. Част от жителите се опасяват, че
шумът и прахът ще затруднят търговците по булеварда, затова поискаха временни паркоместа и по-ниски
такси. Средствата идват от държавния бюджет и от европейска програма за чист градски транспорт.`,
  'Chinese, a recipe': `做番茄炒蛋其实很简单，关键在于火候。先把鸡蛋打散，加少许盐和一勺清水，这样炒出来更嫩滑。锅烧热后倒油，油温七成时下蛋液，凝固后立刻盛出。再放蒜末煸香，倒入切好的番茄，中火翻炒到出汁，尝一尝酸甜，不够就补半勺糖。最后把鸡蛋倒回锅里，轻轻翻匀，撒上葱花即可。喜欢汤汁拌饭的话，可以多留一点水分。`,
  'Chinese, an explanation': `通货膨胀是指货币购买力持续下降、物价普遍上涨的现象。造成它的原因大致有三种：需求增长快于供给，生产成本上升，以及货币发行过多。温和的通胀有利于鼓励投资，但如果失去控制，居民的储蓄就会迅速缩水，企业也难以制定长期计划。中央银行通常通过提高利率来抑制过热的经济，不过这样做也可能使失业率上升，因此需要在两者之间谨慎权衡。`,
  'Chinese, traditional, a review': `這家小館藏在捷運站後面的巷弄裡，招牌不大，卻天天座無虛席。推薦滷肉飯與苦瓜排骨湯，肥瘦比例恰到好處，醬汁鹹中帶甜，拌著熱騰騰的白飯十分過癮。唯一的缺點是位子偏少，假日往往要等上半個鐘頭，而且只收現金。老闆娘記性極好，第二次去就知道我不吃香菜，這份人情味比什麼裝潢都難得。`,
  'Japanese, a notice': `平素より当館をご利用いただき、誠にありがとうございます。設備点検に伴い、来週の水曜日は終日休館とさせていただきます。貸出期限がこの日に当たる資料につきましては、翌日まで自動的に延長されますので、お手続きは必要ありません。なお、正面玄関の返却ポストは通常どおりご利用になれますが、大型の絵本や視聴覚資料は破損のおそれがあるため、窓口まで直接お持ちください。`,
  'Korean, advice': `처음 달리기를 시작하신다면 속도보다 꾸준함에 신경을 쓰는 편이 좋습니다. 일주일에 세 번, 옆 사람과 편하게 이야기할 수 있을 정도로 천천히 이십 분만 뛰어 보세요. 무릎이 아프면 참지 말고 하루 이틀 쉬어야 하며, 운동화는 저녁에 신어 보고 고르는 것이 안전합니다. 한 달쯤 지나면 숨이 덜 차고 잠도 깊어지는 것을 느끼실 겁니다.`,
};
