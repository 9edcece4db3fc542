/**
 * The markers that models and servers put around reasoning and tool calls, and that some servers
 * leave in the text. The comments name models that are known to write a marker; other models copy
 * them.
 */
export interface Marker {
  readonly kind: 'reasoning' | 'call' | 'header' | 'noise';
  /** The opening marker in lower case; text is compared case-insensitively. */
  readonly open: string;
  /** The end markers; the end of the answer ends the block as well. */
  readonly close: readonly string[];
  /**
   * Where the marker counts: `line`: only at the start of the answer or of a line; `start`: only at
   * the start of the answer; `sentence`: also after the end of a sentence.
   */
  readonly where: 'anywhere' | 'line' | 'start' | 'sentence';
  /** True if the opening marker is part of the parsed text, as in `<function=name>`. */
  readonly keepsOpen?: true;
  /**
   * True if the end marker is part of the parsed text as well, so that several blocks may follow
   * one another.
   */
  readonly keepsClose?: true;
  /** True if a block without an end marker is plain text. */
  readonly needsClose?: true;
}

/** XML tags count only at the start of a line, because people also write about them. */
const THOUGHT_TAGS = [
  'think',
  'thinking',
  'thought',
  'thoughts',
  'reasoning',
  'reason',
  'scratchpad',
  'reflection',
  'seed:think',
  'antml:thinking',
  'antthinking',
  'internal_monologue',
];

/** End-of-turn markers that a server has not removed. */
export const END_TOKENS = [
  '<|im_end|>',
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<|end|>',
  '<|return|>',
  '<|call|>',
  '</s>',
  '<end_of_turn>',
  '<turn|>',
  '<｜end▁of▁sentence｜>',
  '<|end_of_turn_token|>',
  '<|user|>',
  '<|observation|>',
  '<|end_response|>',
  '<|end_of_solution|>',
  '[e~[',
  '<seed:eos>',
  '<|end_of_role|>',
];

const HARMONY_ENDS = ['<|end|>', '<|return|>', '<|call|>', '<|start|>', '<|channel|>'];

const REASONING: readonly Marker[] = [
  ...THOUGHT_TAGS.map((tag) => createReasoningMarker(`<${tag}>`, [`</${tag}>`], 'line')),
  ...THOUGHT_TAGS.map((tag) => createReasoningMarker(`<${tag}>`, [`</${tag}>`], 'sentence', true)),
  // Written by Magistral, Kimi-VL, Command A, OpenThinker, Gemma 4 and MedGemma.
  createReasoningMarker('[think]', ['[/think]'], 'line'),
  createReasoningMarker('◁think▷', ['◁/think▷'], 'anywhere'),
  createReasoningMarker('<|start_thinking|>', ['<|end_thinking|>'], 'anywhere'),
  createReasoningMarker('<|begin_of_thought|>', ['<|end_of_thought|>'], 'anywhere'),
  createReasoningMarker('<|channel>thought', ['<channel|>'], 'anywhere'),
  createReasoningMarker('<unused94>thought', ['<unused95>'], 'anywhere'),
  // Written by Open WebUI and similar proxies.
  createReasoningMarker('<details type="reasoning"', ['</details>'], 'line'),
  // Written by Granite 3.2, and by gpt-oss if its special tokens were removed.
  createReasoningMarker('here is my thought process:', ['here is my response:'], 'start', true),
  createReasoningMarker("here's my thought process:", ["here's my response:"], 'start', true),
  createReasoningMarker('analysis', ['assistantfinal', 'assistantcommentary'], 'start', true),
];

function createReasoningMarker(
  open: string,
  close: readonly string[],
  where: Marker['where'],
  needsClose?: true,
): Marker {
  return { kind: 'reasoning', open, close, where, ...(needsClose && { needsClose }) };
}

const CALL_TAGS = [
  'tool_call',
  'tool_calls',
  'toolcall',
  'function_call',
  'function_calls',
  'functioncall',
  'tools',
  'tool_use',
  'minimax:tool_call',
  'seed:tool_call',
  'antml:function_calls',
  'steptml:toolcall',
  '｜dsml｜function_calls',
  '｜dsml｜tool_calls',
  '|dsml|function_calls',
];

const CALLS: readonly Marker[] = [
  // Written by Hermes, Qwen, GLM, MiniMax, Seed-OSS, DeepSeek V3.2, Nemotron, Jamba and Hunyuan.
  // Small models omit the slash, or the end marker before the next call.
  ...CALL_TAGS.map((tag) => createCallMarker(`<${tag}>`, [`</${tag}>`, `<${tag}>`])),
  // Written by Llama 3, by Qwen3-Coder without its outer tag, and in Anthropic’s format and copies
  // of it.
  { ...createCallMarker('<function=', ['</function>']), keepsOpen: true, keepsClose: true },
  ...['', 'antml:', '｜dsml｜'].map(
    (space): Marker => ({
      ...createCallMarker(`<${space}invoke name=`, [`</${space}invoke>`]),
      keepsOpen: true,
      keepsClose: true,
    }),
  ),
  // Written by Kimi K2, DeepSeek V3 and R1, Phi-4, Granite, Gemma 4, Command A and InternLM.
  createCallMarker('<|tool_calls_section_begin|>', ['<|tool_calls_section_end|>']),
  {
    ...createCallMarker('<|tool_call_begin|>', ['<|tool_call_end|>']),
    keepsOpen: true,
    keepsClose: true,
  },
  createCallMarker('<｜tool▁calls▁begin｜>', ['<｜tool▁calls▁end｜>']),
  {
    ...createCallMarker('<｜tool▁call▁begin｜>', ['<｜tool▁call▁end｜>']),
    keepsOpen: true,
    keepsClose: true,
  },
  createCallMarker('<｜tool_calls_begin｜>', ['<｜tool_calls_end｜>']),
  createCallMarker('<|tool_call|>', ['<|/tool_call|>', '</|tool_call|>', '<|tool_call_end|>']),
  createCallMarker('<|tool_call>', ['<tool_call|>']),
  createCallMarker('<|start_action|>', ['<|end_action|>']),
  createCallMarker('<|action_start|>', ['<|action_end|>']),
  // Written by Llama 3.1, Mistral and Phi-4-mini; the default of LM Studio.
  createCallMarker('<|python_tag|>', ['<|eom_id|>', '<|eot_id|>']),
  { ...createCallMarker('[tool_calls]', []), keepsOpen: true },
  createCallMarker('[tool_request]', ['[end_tool_request]']),
  { ...createCallMarker('functools[', []), keepsOpen: true, where: 'line' },
  // Written by Gemma 3 and others as a fence with a dedicated language tag.
  ...['tool_call', 'tool_calls', 'tool_code', 'function_call'].map(
    (language): Marker => ({
      ...createCallMarker(`\`\`\`${language}\n`, ['\n```']),
      where: 'line',
    }),
  ),
];

function createCallMarker(open: string, close: readonly string[]): Marker {
  return { kind: 'call', open, close, where: 'anywhere' };
}

export const MARKERS: readonly Marker[] = [
  ...REASONING,
  ...CALLS,
  // Written by gpt-oss: `<|channel|>analysis<|message|>…`; the header determines the kind of the
  // text after it.
  { kind: 'header', open: '<|channel|>', close: HARMONY_ENDS, where: 'anywhere' },
  { kind: 'header', open: '<|start|>', close: HARMONY_ENDS, where: 'anywhere' },
  ...[
    '<|start_response|>',
    '<|begin_of_solution|>',
    '<|message|>',
    ...CALL_TAGS.map((tag) => `</${tag}>`),
  ].map((open): Marker => ({ kind: 'noise', open, close: [], where: 'line' })),
];

/** End markers of reasoning whose opening marker the server has written into the prompt. */
export const BARE_CLOSES: readonly string[] = [
  ...THOUGHT_TAGS.map((tag) => `</${tag}>`),
  '[/think]',
  '◁/think▷',
  '<|end_thinking|>',
  '<|end_of_thought|>',
  '<channel|>',
  '<unused95>',
];

/**
 * The characters with which a marker or bare call can start; text without them needs no inspection.
 */
export const SIGNS = /[<[◁`\n]|functools/i;

/** Matches lines on which calls begin. */
export const CALL_LINE =
  /^[ \t]*(?:<(?:tool_calls?>|function=|invoke |function_calls?>|\|tool_call)|\[TOOL_CALLS\])/im;
