import type { RequestTooLong } from './chat-model.ts';

/**
 * Parses a refusal that concerns the length of a request. There is no common error code: servers,
 * gateways and their versions each use their own sentence, and some of the numbers in it reveal the
 * model's limit.
 */
export type LengthRefusal =
  /** The request is longer than the model accepts. */
  | RequestTooLong
  /** Only the requested answer length is too large. */
  | {
      readonly kind: 'output-limit';
      readonly limitTokens: number | null;
      readonly windowTokens?: number;
    };

/**
 * Phrases about limits per minute or per day, which look almost like phrases about a single
 * request.
 */
const PER_TIME =
  /tokens? ?(?:per|\/|-per-) ?-?(?:min|minute|second|hour|day|month)|per[- _](?:minute|second|hour|day|month)\b|\b(?:TPM|RPM|TPD|RPD|ITPM|OTPM)\b|(?:daily|hourly|weekly|monthly) (?:\w+ )?(?:tokens?|requests?|usage|quota|limit)|tokens? (?:limit|quota) (?:for|of) (?:today|this)|每(?:分钟|秒|小时|天|日)/i;

/**
 * The length limit of a single field, such as a description or a name, is not the model's limit.
 */
const FIELD_LENGTH =
  /string too long|expected a string with maximum length|(?:name|description|field|value|title|user|metadata|label|identifier|id|headers?)['"`\]]* (?:is |are )?(?:too (?:long|large)|exceeds)|longest? (?:message|line) (?:is|of)|at most \d+ characters|maximum (?:message |text )?length (?:is|of) \d+ characters/i;

const WINDOW_WORDS = String.raw`context(?:[ _-]?(?:length|window|size|limit|budget|capacity|overflow))?`;
const LIMIT_WORDS = String.raw`(?:max\w*|model(?:'s)?|allowed|configured|supported|permitted|truncation|bot(?:'s)?|input|prompt|sequence|token|total|number of|of|the|\d[\d,_]*k?\b|\s)*(?:length|tokens?|limit|size|max_\w+|model(?:'s)? maximum)`;
const TEXT_WORDS = String.raw`(?:prompt|input|inputs|request|conversation|history|chat|messages|context|content length|sequence length|tokens?|instructions)`;

const CONTEXT_FULL: readonly RegExp[] = [
  new RegExp(
    String.raw`${WINDOW_WORDS}[^.\n]{0,60}?(?:exceed|overflow|too (?:small|short|long|large|big)|is full|reached|not enough|insufficient|larger|longer|overrun|over the)`,
    'i',
  ),
  /(?:exceed\w*|overflow\w*|(?:larger|longer|greater|bigger|more) than|beyond|above|too (?:long|large|big) for|(?:not|n't) (?:fit|enough)|out ?side|surpass\w*|run out of|ran out of|out of)[^\n]{0,80}?\b(?:context|n(?:um)?_ctx|max_(?:model|seq|position|input)\w*)/i,
  new RegExp(
    String.raw`\b${TEXT_WORDS}\b[^.\n]{0,60}?(?:exceed\w*|(?:larger|longer|greater|bigger|more) than|over|above|surpass\w*)\s+${LIMIT_WORDS}`,
    'i',
  ),
  /context_?(?:length|window|size)?_?exceed|contextwindowexceed|exceed_?context|context_?overflow|max_prompt_tokens_exceeded|(?:input|prompt)_?tokens?_?(?:limit)?_?exceed|prompt_too_long|input_too_long|string_above_max_length_context/i,
  /max(?:imum)? (?:model )?context (?:length|size|window|limit)/i,
  /more (?:input |prompt )?tokens than (?:(?:is|are) )?(?:allowed|permitted|supported)|too (?:long|large) (?:a )?(?:context|prompt|input)\b|\d tokens[^.\n]{0,40}(?:supports|takes|allows|accepts)[^.\n]{0,30}\d/i,
  /\bmessages? (?:is|was|are|were) too long[^\n]{0,40}\d ?> ?\d|sequence length exceeds (?:the )?cache size/i,
  new RegExp(
    String.raw`\b${TEXT_WORDS}\b[^.\n]{0,40}?\b(?:is|are|was|were|has become|have become|got)?\s*(?:far |much |way )?too (?:long|large|big)(?! (?:a )?(?:wait|delay))`,
    'i',
  ),
  /too many (?:input |prompt |total |context )?tokens|tokens? exceed\w* [^.\n]{0,30}max(?:imum)? of \d/i,
  /(?:prompt|input|request|messages?)\b[^.\n]{0,30}\d tokens[^.\n]{0,60}context (?:length|size|window)/i,
  /(?:reduce|shorten|decrease|truncate|trim) (?:the |your )?(?:length|size|number)? ?(?:of )?(?:the |your )?(?:tokens in )?(?:the |your )?(?:input |prompt )?(?:messages?|input|prompt|conversation|context|history|tokens)|decrease input length|(?:shorter|smaller) (?:input|prompt)|(?:use|provide|send|try) (?:a )?(?:shorter|smaller) (?:prompt|input|message|conversation|context)/i,
  /range of input length should be/i,
  /maximum (?:allowed )?(?:prompt|input|model|sequence|supported sequence|token|number of (?:input )?tokens)[ _-]?(?:length|tokens|size|limit|count|allowed)?\b[^.\n]{0,40}?(?:is|of|exceed|:|allowed)/i,
  /maximum supported sequence length|max(?:imum)? input (?:characters|tokens|length)|max message tokens|max_input_tokens/i,
  /(?:model )?token limit:? ?\d|tokens? limit (?:in (?:the )?request )?(?:was |is |has been )?(?:exceeded|reached)|exceed\w* (?:the |model |model's )*(?:max\w* )?token limit|over the token limit/i,
  /`inputs` (?:must have less than|tokens \+ `max_new_tokens` must be)/i,
  /tokens to keep from the initial prompt|trying to keep the first \d+ tokens|\bn_ctx\b|max_(?:model|seq)_len\b|free space in the kv cache|kv cache is full|context shift/i,
  /number of (?:input |prompt )?tokens? (?:\(\d+\) )?exceed|tokens? (?:count|number)[^.\n]{0,30}exceed|(?:prompt|input) (?:length|tokens?)[^.\n]{0,30}(?:exceed|greater|longer|larger|over|must)/i,
  /上下文[^。\n]{0,16}(?:过长|過長|超出|超过|超過|超长|超限|溢出|太长|已满|不足|上限)/,
  /(?:超出|超过|超過|大于|大於)[^。\n]{0,16}(?:上下文|最大(?:输入)?长度|最大長度|(?:token|tokens)\s*(?:数|數|上限|限制|长度)|模型[^。\n]{0,8}(?:限制|上限|长度))/i,
  /(?:输入|輸入|提示词?|请求|請求|对话|對話|会话|历史|消息列表|文本|prompt|tokens?)\s*(?:内容|長度|长度|总长度|总数|总量|数量|数)?\s*(?:过长|過長|超长|太长|太長|超限|超出|超过)/i,
  /(?:longueur|taille|fenêtre) d[ue] contexte|kontext(?:länge|fenster|größe)|contexto[^.\n]{0,30}(?:supera|excede|longitud)|(?:longitud|ventana|tamaño)[^.\n]{0,20} contexto/i,
  /(?:длин|окн|размер)[а-я]* контекст|контекст[а-я]*[^.\n]{0,30}(?:превыш|слишком)|(?:컨텍스트|입력|프롬프트)[^.\n]{0,24}(?:초과|너무 (?:깁|길|긴))/i,
  /压缩上下文|(?:コンテキスト|入力)[^。\n]{0,16}(?:超え|長すぎ|オーバー)/,
];

const OUTPUT_WORDS = String.raw`max_?(?:completion_?|new_?|output_?)?tokens`;
const OUTPUT_TOO_LARGE: readonly RegExp[] = [
  new RegExp(String.raw`${OUTPUT_WORDS}['"\`]?[^.\n]{0,60}?(?:is )?too (?:large|big|high)`, 'i'),
  new RegExp(String.raw`${OUTPUT_WORDS}['"\`]?[:=]? ?\d+ ?>`, 'i'),
  new RegExp(String.raw`(?:invalid|range of|value for|value of)[^.\n]{0,20}${OUTPUT_WORDS}`, 'i'),
  new RegExp(
    String.raw`${OUTPUT_WORDS}['"\`]?(?:=\d+)? (?:must|should|can ?not|may not|has to|needs to)[^\n]{0,60}?(?:less|smaller|at most|greater|exceed|be (?:in|within|between)|<=?|≤)`,
    'i',
  ),
  new RegExp(
    String.raw`${OUTPUT_WORDS}['"\`]? (?:value )?(?:of )?\d+[^\n]{0,60}?(?:exceeds|supported range|is (?:greater|larger|more))`,
    'i',
  ),
  /supports at most \d+ (?:completion|output) tokens|maximum (?:allowed )?number of output tokens|maximum tokens you requested exceeds/i,
];

/** A number of tokens, possibly with separators. */
const N = String.raw`(\d[\d,_]*)`;
const pattern = (source: string): RegExp => new RegExp(source, 'i');

/** Phrases that state the maximum length of a request; the first match counts. */
const WINDOWS: readonly RegExp[] = [
  pattern(
    String.raw`max(?:imum)? (?:allowed )?(?:model )?context (?:length|size|window|limit)(?: of| is|:| =|\s*\()*(?: only)? ?${N}`,
  ),
  pattern(String.raw`${N} (?:tokens? )?maximum context`),
  pattern(String.raw`> ?${N}(?: tokens?)?(?:,| maximum|\)|$)`),
  pattern(String.raw`exceeds? (?:the |our |your )?${N}[ -]tokens?\b`),
  pattern(String.raw`context of ${N}`),
  pattern(String.raw`context (?:length|window|size|limit)(?! by| exceeds limit)[^\d\n]{0,45}?${N}`),
  pattern(
    String.raw`maximum (?:allowed |supported )?(?:model |sequence |prompt |input )?(?:length|tokens|size)[^\d\n]{0,30}?${N}`,
  ),
  pattern(String.raw`tokens allowed[^\d\n]{0,5}${N}`),
  pattern(String.raw`token limit[^\d\n]{0,5}${N}`),
  pattern(String.raw`input length should be \[ ?\d+ ?, ?${N}`),
  pattern(
    String.raw`(?:must have less than|must be (?:<=|≤|less than|at most)|cannot exceed|at most|supports up to|limit (?:is|of|was)|max(?:imum)? (?:of|is|size)|max input limit|max (?:input|message) (?:tokens|characters) is):? ?${N}`,
  ),
  pattern(String.raw`(?:n_ctx|max_(?:model|seq|input)_?\w*|num_ctx)["']?[^\d\n]{0,5}${N}`),
];

/** Phrases that state the length of the request as counted by the server. */
const PROMPTS: readonly RegExp[] = [
  pattern(String.raw`(?:prompt|input) is too long:? ?${N}`),
  pattern(String.raw`resulted in ${N} tokens`),
  pattern(
    String.raw`\(${N} (?:of text input|in (?:the|your) (?:messages|prompt)|tokens\) (?:exceed|is (?:longer|larger)))`,
  ),
  pattern(String.raw`\(${N} tokens\) (?:exceed|is (?:longer|larger)|are)`),
  pattern(
    String.raw`(?:contains?(?: at least)?|has|passed|received|given:) ${N} ?(?:\`inputs\` |input |prompt )?(?:tokens|\.|$)`,
  ),
  pattern(String.raw`current length is ${N}`),
  pattern(String.raw`${N} tokens from the input messages`),
  pattern(
    String.raw`(?:token count|input tokens|input length|prompt length|prompt \(length)(?: of| is| \()? ?\(?${N}`,
  ),
  pattern(String.raw`(?:prompt is|first) ${N} tokens(?! (?:longer|more|over|above))`),
  pattern(String.raw`n_prompt_tokens["']?[^\d\n]{0,3}${N}`),
  pattern(String.raw`context limit: ${N} \+`),
  pattern(
    String.raw`(?:requested|requested:|sent|received) (?:about |at least )?${N}(?! output)(?: tokens|\)|$)`,
  ),
];

/** Numbers outside this range are not context windows but count something else. */
const MIN_WINDOW = 256;
const MAX_WINDOW = 50_000_000;
/**
 * If at least this share of a window is free, a shorter answer is needed rather than a shorter
 * request.
 */
const FREE_SHARE = 1 / 4;

/**
 * Statuses about keys, accounts, addresses, headers and timeouts, whose messages mention other
 * limits and lengths.
 */
const OTHER_LIMITS: ReadonlySet<number> = new Set([401, 402, 403, 408, 414, 431, 504]);

/**
 * Unrelated uses of "context" and "too long", such as Go's "context deadline exceeded" and a "TLS
 * context".
 */
const OTHER_SENSES =
  /context (?:deadline|timeout|manager|cancel\w*)(?: exceeded)?|(?:ssl|tls|cuda|vulkan|device|execution|security|browser|rendering) context|out of (?:\w+ )?memory|(?:took|tak(?:es|ing)|wait(?:ed|ing)|ran|running|queued?(?: is)?) (?:far |much |way )?too long|time-?out exceeded/gi;

/**
 * Parses the lengths in a refusal; null if the refusal has another reason. `said` is the complete
 * text from the server.
 */
export function parseLengthRefusal(said: string, status: number | null): LengthRefusal | null {
  if (status !== null && OTHER_LIMITS.has(status)) return null;
  const text = said.replace(OTHER_SENSES, '');
  if (PER_TIME.test(text)) return findRateLimitRefusal(text);
  if (FIELD_LENGTH.test(text) && !/context[_ -]?(?:length|window|size)/i.test(text)) return null;
  if (/thinking[._]budget|budget_tokens/i.test(text)) return null;
  const isOutput = OUTPUT_TOO_LARGE.some((one) => one.test(text));
  const isContext = CONTEXT_FULL.some((one) => one.test(text));
  if (!isOutput && !isContext) return null;
  const isBytes = status === 413 || /payload|bytes|\d ?[KM]i?B\b/.test(text);
  if (isBytes && !/token|context|length/i.test(text)) return { kind: 'too-long', isBytes: true };
  // Throttling has similar wording: "Too many tokens, please wait before trying again".
  if (status === 429 && !/context|prompt is too long/i.test(text)) return null;
  const windowTokens = toPlausibleWindow(findFirstNumber(WINDOWS, text));
  const promptTokens = findFirstNumber(PROMPTS, text);
  const isCombined = /max_new_tokens|max_tokens|completion|output/i.test(text);
  const free = windowTokens === null || promptTokens === null ? null : windowTokens - promptTokens;
  const known = windowTokens === null ? {} : { windowTokens };
  if (free !== null && isCombined && windowTokens !== null && free >= windowTokens * FREE_SHARE) {
    return { kind: 'output-limit', limitTokens: Math.floor(free * 0.9), ...known };
  }
  if (isOutput && !/context|input length|`inputs`/i.test(text)) {
    return { kind: 'output-limit', limitTokens: findOutputLimit(text) };
  }
  return { kind: 'too-long', ...known, ...(promptTokens !== null && { promptTokens }) };
}

/** A request that alone exceeds the limit per minute is never accepted, even after a delay. */
function findRateLimitRefusal(text: string): LengthRefusal | null {
  const limit = toPlausibleWindow(
    findFirstNumber([pattern(String.raw`limit:? ?(?:is |of )?${N}`)], text),
  );
  const requested = toPlausibleWindow(
    findFirstNumber([pattern(String.raw`requested:? ?(?:about )?${N}`)], text),
  );
  if (limit === null || requested === null || requested <= limit) return null;
  return { kind: 'too-long', windowTokens: limit, promptTokens: requested };
}

const OUTPUT_LIMITS: readonly RegExp[] = [
  pattern(String.raw`at most ${N}`),
  pattern(String.raw`range[^\n]{0,60}?\[ ?\d+ ?, ?${N}`),
  pattern(String.raw`to ${N} \(exclusive\)`),
  pattern(
    String.raw`(?:>|<=|≤|less than or equal to|less than|lower than|limit of|cannot exceed|max_model_len=|maximum (?:value )?(?:is|of|allowed)) ?[\`'"]?${N}`,
  ),
];

function findOutputLimit(text: string): number | null {
  const limit = toPlausibleWindow(findFirstNumber(OUTPUT_LIMITS, text));
  // "Below" excludes the limit itself, so one token is subtracted, which is safe in either case.
  return limit === null ? null : limit - 1;
}

function findFirstNumber(patterns: readonly RegExp[], text: string): number | null {
  for (const one of patterns) {
    const found = one
      .exec(text)
      ?.slice(1)
      .find((group) => group !== undefined);
    if (found !== undefined) return Number(found.replace(/[,_]/g, ''));
  }
  return null;
}

function toPlausibleWindow(tokens: number | null): number | null {
  return tokens === null || tokens < MIN_WINDOW || tokens > MAX_WINDOW ? null : tokens;
}
