/**
 * Words for times in other languages, each listed after the English word that `parseTimes`
 * recognizes.
 */
const WORDS = `
every: alle jede jeder jeden jedes cada chaque toutes tous todos todas ogni elke
day: tag jour día dia giorno dag; days: tage tagen jours días dias giorni dagen
hour: stunde heure hora ora uur; hours: stunden heures horas ore; minutes: minuten minutos minuti
once: einmal; twice: zweimal; thrice: dreimal
week: woche semaine semana; weeks: wochen semaines semanas; month: monat mois
hourly: stündlich; nightly: nachts; every morning: morgens; every evening: abends; second: zweiten; weekly: wöchentlich hebdomadaire semanalmente; monthly: monatlich mensuel mensual
daily: täglich quotidien quotidiennement diariamente; weekdays: werktags wochentags
sunday: sonntag dimanche domingo; sundays: sonntags dimanches domingos
monday: montag lundi lunes; mondays: montags lundis
tuesday: dienstag mardi martes; tuesdays: dienstags mardis
wednesday: mittwoch mercredi miércoles; wednesdays: mittwochs mercredis
thursday: donnerstag jeudi jueves; thursdays: donnerstags jeudis
friday: freitag vendredi viernes; fridays: freitags vendredis
saturday: samstag sonnabend samedi sábado; saturdays: samstags samedis sábados`;
const ENGLISH = new Map(
  WORDS.split(/[\n;]/).flatMap((line) => {
    const [english = '', words = ''] = line.split(':');
    return words.split(' ').map((word) => [word, english.trim()] as const);
  }),
);

/** Other ways to write times, with the English equivalent; they are replaced in this order. */
const FORMS: readonly (readonly [RegExp, string])[] = [
  [/[，、；]/g, ', '],
  [/：(?=\d)/g, ':'],
  [/[：（）]/g, ' | '],
  [/(\d)\s*[点點]半/g, '$1:30'],
  [/(\d)\s*(?:[点點](?:钟|整)?|時(?!間))/g, '$1:00'],
  [/(?:下午|晚上|傍晚)\s*(\d{1,2}(?::\d{2})?)/g, '$1 pm'],
  [/(?:凌晨|早上|早晨|上午|中午)\s*(\d{1,2}(?::\d{2})?)\s*(?=到|至|~|～|-)/g, '$1 am'],
  [/(\d|[ap]m)\s*(?:到|至|~|～)\s*(?=\d)/g, '$1 - '],
  [/每(?:隔)?半(?:个)?小时/g, ' every 30 min '],
  [/每(?:隔)?\s*(\d+)\s*分钟?/g, ' every $1 min '],
  [/每(?:隔)?\s*(\d+)\s*(?:个)?(?:小时|钟头)/g, ' every $1 h '],
  [/每?隔\s*1?\s*[天日]/g, ' every 2 days '],
  [/每(?:隔)?\s*(\d+)\s*天/g, ' every $1 days '],
  [/每(?:隔)?\s*(\d+)\s*周/g, ' every $1 weeks '],
  [/每(?:个)?月\s*(\d+)\s*[日号]/g, ' the $1th of every month '],
  [/[每毎](?:次)?\s*(?:心跳|heartbeats?)(?:时)?/gi, ' every heartbeat '],
  [/每\s*(\d+(?:\s*-\s*\d+)?)\s*次\s*(?:心跳|heartbeats?)/gi, ' every $1 heartbeats '],
  [/每(?:个)?(?:小时|時間)/g, ' hourly '],
  [/每?(?:个)?工作日/g, ' every weekday '],
  [/[每毎](?:天|日)\s*(\d+)\s*次/g, ' $1 times a day '],
  [/[每毎](?:天|日)|每个?早上|每晚/g, ' daily '],
  [/[每毎](?:个)?(?:周|星期|週)/g, ' weekly '],
  [/(?:凌晨|早上|早晨|上午|中午)\s*(?=\d)/g, ' at '],
  [/全天/g, ' all day '],
  [/(?<!every\s)\b(\d{1,2})\s?h?\s*[-–]\s*(\d{1,2})\s?h\b/gi, '$1:00-$2:00'],
  [
    /(?<!\p{L})(?:von|de|desde)\s+(?:las\s+)?([\d:]+)\s*(?:bis|à|a|hasta)\s+(?:las\s+)?(?=\d)/giu,
    'from $1 to ',
  ],
  [
    /(?:zwischen|entre)\s+(?:las\s+)?([\d:]+)\s*(?:und|et|y)\s+(?:las\s+)?(?=\d)/gi,
    'between $1 and ',
  ],
  [/(\d)\s*bis\s+(?=\d)/gi, '$1 to '],
  [/(?<!\p{L})(?:um|ab|om|à|alle|a las?)\s+(?=\d)/giu, 'at '],
  [/\bevery\s+(?:les|los|las|i|le)\s+|\blos\s+(?=\w+day\b)/gi, 'every '],
  [/(\w+day)\s*(?:,|和|及)\s*every\s+(?=\w+day\b)/gi, '$1, '],
  [/(\d(?:\s[ap]m)?)\s*[和及]\s*(?=\d)/g, '$1 and '],
  [/\bevery\s+(?=\d{1,2}:\d{2})/gi, 'at '],
  [/\bevery\s+(\d{1,2})\.\s+(?:des|jedes)\s+\w+/gi, 'the $1th of every month'],
  [/\bam\s+(\d{1,2})\.(?!\d)/gi, 'on the $1th'],
  [/\b(?:(?:von|du|de)\s+)?(\w+day)\s+(?:bis|au|à|a)\s+(?=\w+day\b)/giu, '$1 to '],
  [/(\w+days?)\s+(?:und|et|y|e|en)\s+(?=\w+day)/gi, '$1 and '],
  [/\bonce(?=\s+(?:an?|per|each|am|par|al|pro)?\s*da(?:y|ily)\b)/gi, '1 times'],
  [/\btwice\b/gi, '2 times'],
  [/\bthrice\b/gi, '3 times'],
  [/(\d)\s*(?:mal|fois|veces|vez|volte|times)\s+(?:am|pro|par|al)\s+(?=day\b)/gi, '$1 times a '],
  [/\b(?:my |your )?local time\b/gi, ''],
  [/\b([ap])\.m\b\.?/gi, '$1m'],
  [/\bnoon\b/gi, '12:00'],
  [/\bmidnight\b/gi, '0:00'],
  [/\b(every|each)\s+(?:other|second)\s+(hour|day|week)\b/gi, '$1 2 $2s'],
  [/\bfortnightly\b/gi, 'every 2 weeks'],
  [/\bhalf(?:\s+an)?\s+hour\b/gi, '30 min'],
];
/**
 * Matches `8 Uhr`, and `8h30` after a word that makes it a time of day; `every 2h` is a duration.
 */
const HOUR =
  /\b(\d{1,2})(?:[:.](\d{2}))?\s*uhr\b|(?<=(?:à|de|et|las|at|from|to|and|between|entre)\s)(\d{1,2})\s?h(\d{2})?(?!\p{L}|\d)/giu;
const DIGITS = '零一二三四五六七八九十';
const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six'];
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Matches emphasis and code marks, but not the asterisks in a cron expression. */
export const MARKS = /[*]{2}|[_`]|\*(?=\p{L})|(?<=[\p{L}.:!?)])\*/gu;

/** Matches addresses, whose numbers are not times: `[News](https://example.org/12:30)`. */
const ADDRESS = /(?<=\])\([^)\s]*\)|\b\w+:\/\/\S+/g;

/** Translates the times in a line into the English words that `parseTimes` recognizes. */
export function translateToEnglish(line: string): string {
  const words = line
    .replace(ADDRESS, (address) => address.replace(/^(?:\w+:\/\/|\(.*)|[\d:]/g, ''))
    .replace(MARKS, '')
    .replace(HOUR, (_, hour, minute, other, more) => `${hour ?? other}:${minute ?? more ?? '00'}`)
    .replace(/\p{Script=Latin}+/gu, (word) => ENGLISH.get(word.toLowerCase()) ?? word)
    .replace(
      /(?<=\bevery\s)(?:two|three|four|five|six)\b|\b(?:three|four|five|six)(?=\stimes\b)/gi,
      (word) => String(NUMBERS.indexOf(word.toLowerCase())),
    )
    .replace(/[两一二三四五六七八九十](?=\s*(?:点|个?小时|天|周|次))/g, (one) =>
      String(DIGITS.indexOf(one === '两' ? '二' : one)),
    )
    .replace(
      /每?(?:个)?(?:周|星期|礼拜)([一二三四五六日天])/g,
      (_, day: string) => ` every ${DAYS[DIGITS.indexOf(day)] ?? 'sunday'} `,
    );
  return FORMS.reduce((text, [form, english]) => text.replace(form, english), words);
}
