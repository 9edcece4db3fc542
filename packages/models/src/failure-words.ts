/**
 * Phrases with which servers state why they refuse, one wording per line. They are matched against
 * everything that a server returned: codes, types and sentences. `test/corpus/failures` has
 * complete responses that contain them.
 */

function createPhrasePattern(wordings: readonly string[]): RegExp {
  return new RegExp(wordings.join('|'), 'i');
}

export const NO_CREDIT = createPhrasePattern([
  'insufficient[_ -]?(?:quota|balance|credits?|funds)',
  'credit balance',
  '(?:out of|no(?: remaining)?|not enough|run out of) credits?',
  'billing',
  'payment[_ ]required',
  'arrearage',
  'exceeded_current_quota',
  'balance (?:is )?(?:too low|insufficient|not enough)',
  'budget[ _](?:has been |is |was )?exceeded',
  'key limit exceeded',
  '余额不足',
  '欠费',
  '账户.{0,6}余额',
]);

export const RATE_LIMITED = createPhrasePattern([
  'rate[ _-]?limit',
  'too[ _-]?many[ _-]?(?:requests|concurrent)',
  'throttl',
  'resource_?exhausted',
  'quota exceeded',
  'concurrency[ _]limit',
  String.raw`(?:tokens|requests) ?(?:per|\/) ?(?:min|second|hour|day)`,
  String.raw`(?:daily|hourly|weekly|monthly) (?:\w+ )?(?:limit|quota)`,
  'slow down',
  '请求(?:过于)?频繁',
  '限流',
  '速率限制',
  '并发(?:数|限制|过高)',
]);

/** The messages of Ollama, vLLM, llama.cpp, LM Studio, SGLang, OpenRouter and gateways. */
export const NO_TOOLS = createPhrasePattern([
  "(?:does not|doesn't|do not|not|without) support(?:ed)? (?:the use of |for )?(?:tool|function)",
  'support tool use',
  String.raw`(?:no|not have|lacks?|without) (?:\w+ )?tools?(?: use| calling)? (?:capabilit|support)`,
  String.raw`\btools: extra (?:inputs|fields)(?: are)? not permitted`,
  '(?:tools?|functions?|tool[_ ]choice|(?:tool|function) calling)[`\'"]? (?:is |are |use is |calling is |calls? (?:is|are) )?(?:not|un)[- ]?(?:supported|available|allowed|enabled)',
  'enable-auto-tool-choice',
  'tool-call-parser',
  'tools param requires',
  String.raw`unsupported (?:parameter|value)[^\n]{0,10}\btools?\b`,
  '不支持(?:工具|函数)调用',
]);

/**
 * The messages of Mistral, of chat templates (vLLM, llama.cpp, Ollama), Perplexity, DeepSeek and
 * Bedrock; OpenRouter quotes them elsewhere in the body.
 */
export const MESSAGE_ORDER = createPhrasePattern([
  String.raw`unexpected role \W*user`,
  'message_order',
  'roles? (must|should) (be )?alternat',
  'must alternate between',
  'successive user or assistant',
]);

export const UNAUTHORISED = createPhrasePattern([
  'authentication_?error',
  'permission_?error',
  'invalid[_ ]?(?:api[_ ]?key|authentication|token)',
  'incorrect api key',
  'api[_ ]?key[_ ](?:not valid|invalid|expired|missing)',
  'unauthenticated',
  "(?:not|n't) provide (?:an |the |your )?api[_ ]?key",
  'no (?:auth(?:entication)? credentials|api[_ ]?key)',
  'login fail',
  'accessdenied',
  '无效的?(?:令牌|密钥|api)',
]);

export const NOT_FOUND = createPhrasePattern([
  'model[_ ]not[_ ]found',
  'unknown model',
  'no such model',
  'invalid model',
  'not a valid model',
  String.raw`(?:could not|cannot|can't|unable to) (?:find|access|locate) [^.\n]{0,20}model`,
  String.raw`model[^.\n]{0,80}?(?:not found|does(?: not|n't) exist|not exist|is not available|no longer available|decommissioned|has been (?:deprecated|shut down|removed))`,
  '模型不存在',
]);

export const OVERLOADED = createPhrasePattern([
  'overloaded',
  'server_?error',
  'api_error',
  'internal_?error',
  'service_?unavailable',
  String.raw`\bunavailable\b`,
  'deadline_?exceeded',
  String.raw`\baborted\b`,
  'modelnotready',
  'model (?:is )?(?:currently )?loading',
  'loading model',
  'at (?:full |max(?:imum)? )?capacity',
  'over capacity',
  'temporarily',
  'try again later',
  'upstream (?:connect|request|error|timed? ?out)',
  'bad gateway',
  'gateway time-?out',
  'timed? ?out',
  '服务器?(?:繁忙|忙|不可用|内部错误)',
  '稍后(?:再试|重试)',
]);

export const FILTERED = createPhrasePattern([
  'content[_ ]?(?:filter|policy)',
  'content management policy',
  'responsible ?ai',
  'safety (?:system|filter|settings|reasons)',
  String.raw`\bSAFETY\b`,
  'prohibited_content',
  'blocklist',
  'data_?inspection',
  'inappropriate content',
  'content exists risk',
  'sensitive (?:content|words?|information)',
  'flagged (?:by|as|for)',
  'moderation',
  '敏感(?:内容|词|信息)',
  '不安全',
  '违规',
]);

/** A refusal because of the caller's location; a different key would not help. */
export const WRONG_PLACE = createPhrasePattern([
  String.raw`(?:country|region|territory|location)[^.\n]{0,40}?not (?:supported|available|allowed)`,
  'unsupported_country',
]);

/**
 * Firewalls, filters and sign-in pages between Parley and the server; most of them respond with web
 * pages.
 */
export const BLOCKED = createPhrasePattern([
  'cloudflare',
  'attention required',
  'just a moment',
  'checking your browser',
  String.raw`error code:? ?10\d\d`,
  String.raw`access denied[^.\n]{0,40}(?:security|policy|administrator|reference)`,
  'request (?:was )?(?:blocked|rejected)',
  'requested url was rejected',
  'incapsula',
  'imperva',
  'akamai',
  'fortigu?ard',
  'fortinet',
  'zscaler',
  'sophos',
  'web ?page (?:is )?blocked',
  'blocked by',
  'captive',
  String.raw`waf\b`,
  'rbac: access denied',
  'security (?:policy|gateway|service)',
  'network (?:sign|log)[- ]?(?:in|on)',
  'proxy (?:server )?authentication',
]);
