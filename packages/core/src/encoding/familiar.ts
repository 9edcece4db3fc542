import type { Encoding } from './labels.ts';

/**
 * Returns how familiar the ideographs, syllables and words of the text are, from 0 to 1. A standard
 * has thousands of ideographs and nearly any pair of bytes is one, but a few hundred make up half
 * of all written text, which distinguishes Chinese, Korean and Japanese within a line or two. In
 * other scripts, words have more than one letter.
 */
export function computeFamiliarity(text: string, encoding: Encoding): number {
  const pattern = FAMILIAR[encoding];
  if (pattern === undefined) return hasOnlySingleCharacters(findDistinctiveWords(text)) ? ALONE : 1;
  const runs = text.match(RUNS) ?? [];
  const all = runs.join('');
  const count = [...all].length;
  if (count === 0) return 1;
  const share = (all.match(pattern)?.length ?? 0) / count;
  // A lone character is probably a single byte misread with the letter after it, such as the degree
  // sign before a C.
  if (hasOnlySingleCharacters(runs) && share < 0.5) return ALONE;
  const least = Math.max(MIN_SHARE, MIN_OF_NONE - MIN_PER_CHARACTER * count);
  return least + (1 - least) * Math.min(1, share / USUAL_SHARE) ** 2;
}

function hasOnlySingleCharacters(runs: readonly string[]): boolean {
  return runs.length > 0 && runs.every((run) => [...run].length === 1);
}

/**
 * Words in scripts other than Latin, and those with a letter that only Central European languages
 * use.
 */
function findDistinctiveWords(text: string): readonly string[] {
  const latin = text.match(/\p{Script=Latin}+/gu) ?? [];
  return [
    ...(text.match(WORDS) ?? []),
    ...latin.filter((word) => /[\u0100-\u0151\u0154-\u015f\u0162-\u0177\u0179-\u017c]/.test(word)),
  ];
}

const WORDS =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}]+/gu;
/** Consecutive ideographs, kana and Hangul syllables. */
const RUNS = /[\u3005-\u3007\u3041-\u30fe\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]+/g;
const ALONE = 0.03;
const MIN_SHARE = 0.08;
/** A word of two rare characters is weak evidence, and a word of four is strong evidence. */
const MIN_OF_NONE = 1.5;
const MIN_PER_CHARACTER = 0.4;
/** The share of common characters in ordinary text. */
const USUAL_SHARE = 0.5;

const SIMPLIFIED =
  /[的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运笔买菜钱价姓址号城编码备注京沪广深州店货费付退款订单票请谢您午早晚周议室参准楼层待办元吃饭车站银账户密网联客服送快递包裹错误找启停]/g;

const TRADITIONAL =
  /[的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應向頭文體政美相見被利什二等產或新己制身果加西月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直資命山金指統區保至形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取望覺術領共確傳師觀清今切院讓識候帶導爭運買菜錢價格姓址號城編碼備註台灣雄店貨費付退款訂單票請謝您午早晚週議室參準樓層待辦元吃飯車站銀帳戶網聯絡客服送包裹錯誤檔案啟停捷咖啡餐席紀錄林陳]/g;

const JAPANESE =
  /[\u3041-\u30fe々〇一人日大年出本中子見国言上分生手自行者二間事思時気会十家女三前的方入小地合後目長場代私下立部学物月田何来彼話体動社知理山内同心発高実作当新世今書度明五戦力名金性対意用男主通関文屋感郎業定政持道外取所現最化四先民身不口川東相法海回機水六夜円氏署佐藤営鈴木花総務京都府県市区町村番丁電号住品価格数量計付曜火土午員課係株式様御請求送料銀支店残給与振込買牛乳卵願致連絡確認予議室資添松井吉加伊渡辺斎橋林美香太健次恵真由紀清正和千阪古福岡神奈横浜札幌仙広島駅車食飲朝昼晩肉魚野菜天]/g;

const HANGUL =
  /[이다는을의에가고하지사한를로기은어도리서자아나그대시인해일으정수들제보부장과게라만여면전원음주상동있공구관계무조스비요생치우마유세성선문내국모소것미오물연안식았었습니합입겠까네거신중않못없년월분금회김박최강영희민진경준현호훈철순명름화번처울산광역특별남북달말날밤침저녁점심집밥돈개건늘녕감반갑출발했취참석열꼭려차타]/g;

/** The most frequent characters of the languages for which each encoding is used. */
const FAMILIAR: Readonly<Record<Encoding, RegExp>> = {
  gb18030: SIMPLIFIED,
  big5: TRADITIONAL,
  shift_jis: JAPANESE,
  'euc-jp': JAPANESE,
  'euc-kr': HANGUL,
};
