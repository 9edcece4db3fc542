import { toDisplayLine } from './visible-text.ts';

/** Formats a number with thousands separators: `12,345`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Formats `1 tool`, `3 tools`. */
export function pluralize(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Matches every line end, including Unicode's rare ones. */
const LINE_ENDS = /\r\n|[\n\r\u2028\u2029\u0085\v\f]/;

/** Prefixes each line with `> `, so that it cannot be mistaken for the text around it (P18). */
export function quoteLines(text: string): string {
  return text
    .split(LINE_ENDS)
    .map((line) => `> ${line}`)
    .join('\n');
}

/**
 * The tokens that chat templates of local models write between messages. A tokenizer that finds one
 * in ordinary text converts it to the same control token, so that the text could end its message
 * and begin a system message. The families are matched by shape, so that a new model of a known
 * family needs no new pattern: `<|im_start|>`, `<｜User｜>`, `<|turn>` (ChatML, Llama, Qwen, Phi,
 * GLM, Command, Granite, gpt-oss, DeepSeek, Gemma), `<s>`, `<start_of_turn>`, `<tool_call>` …
 * (SentencePiece, Gemma, Qwen, T5, StarCoder, Seed), `<<SYS>>` (Llama 2), `[INST]`, `[gMASK]` …
 * (Mistral, GLM, BERT), `[|user|]` (EXAONE), `]~b]` (MiniMax). Tokenizers compare exactly: text in
 * another case, or with spaces or invisible characters inside, is not a token.
 */
const TOKEN = new RegExp(
  [
    String.raw`<[|｜][^\s<>|｜‹›⟦⟧]{1,64}[|｜]?>`,
    String.raw`<[^\s<>|｜‹›⟦⟧]{1,64}[|｜]>`,
    String.raw`<\/?(?:s|bos|pad|unk|eo[acdhps]|sop|think|tool_(?:call|response)s?|(?:start|end|begin(?:ning)?)_of_\w{1,32}|(?:image|audio)_soft_token|fim_\w{1,32}|extra_id_\d+|reserved_\d+|unused\d+|SPECIAL_\d+|[A-Z_]{2,32}_TOKEN|seed:[\w:]{1,32})>`,
    String.raw`<<\/?SYS>>`,
    String.raw`\[\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_(?:CALLS|RESULTS|CONTENT)|ARGS|CALL_ID|THINK|MODEL_SETTINGS|IMG(?:_BREAK|_END)?|(?:BEGIN_)?AUDIO|TRANSCRIBE|PREFIX|MIDDLE|SUFFIX|[gs]?MASK|CLS|SEP|BOS|EOS|EOT|PAD|UNK|control_\d+)\]`,
    String.raw`\[[|｜][^\s[\]‹›⟦⟧]{1,64}[|｜]\]`,
    String.raw`\]~!?\w{1,16}[[\]]|\[e~\[|\]<\][^\s[\]<>‹›⟦⟧]{1,64}\[>\[`,
  ].join('|'),
  'g',
);
const LOOKALIKES: Readonly<Record<string, string>> = { '<': '‹', '>': '›', '[': '⟦', ']': '⟧' };

/**
 * Replaces the brackets around each chat template token: `‹|im_start|›`, `⟦INST⟧`. The text stays
 * readable for people and models, no tokenizer recognizes a token in it, its length stays the same,
 * and applying the function twice gives the same result.
 */
export function neutralizeTemplateTokens(text: string): string {
  if (!text.includes('<') && !text.includes('[') && !text.includes(']')) return text;
  return text.replace(TOKEN, (token) =>
    token.replace(/[<>[\]]/g, (bracket) => LOOKALIKES[bracket] ?? bracket),
  );
}

/**
 * The length at which lines are wrapped: a message can contain a line of this length, and a page
 * shows all of it.
 */
const WIDTH = 160;
/**
 * Matches a character with its combining marks, or an escaped character, which must not be split.
 */
const PIECE = /\\u\{[^}]*\}|\P{M}\p{M}*|\p{M}/gu;

/**
 * Formats a call, as its record shows it (`formatArguments`), as a Markdown block for the people who
 * decide about the call. A line that begins with `+` continues the line above it. No line begins
 * like a fence, so the call cannot end the block.
 */
export function formatCallBlock(shown: string): string {
  return `\`\`\`\n${shown.split('\n').flatMap(wrapLine).join('\n')}\n\`\`\``;
}

function wrapLine(line: string): readonly string[] {
  if (line.length <= WIDTH) return [line];
  const lines: string[] = [];
  let current = '';
  for (const piece of line.match(PIECE) ?? []) {
    if (current.length + piece.length > WIDTH && piece !== ' ') {
      const at = findLineBreak(current);
      lines.push(current.slice(0, at));
      current = `+${current.slice(at)}`;
    }
    current += piece;
  }
  return [...lines, current];
}

/**
 * Breaks a line before a nearby space, because a space is visible at the beginning of a line but
 * not at its end.
 */
function findLineBreak(text: string): number {
  const word = text.lastIndexOf(' ');
  const spaces = text.slice(0, word + 1).trimEnd().length;
  return spaces > WIDTH / 2 ? spaces : text.length;
}

/** Formats a time span in ms for people: `5 ms`, `0.4 s`, `12 s`, `3 min`, `5 h`, `2 d`. */
export function formatDuration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  const minutes = seconds / 60;
  if (minutes < 100) return `${Math.round(minutes)} min`;
  const hours = minutes / 60;
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} d`;
}

const TODO_SIGNS = { done: '✅', doing: '▶️', open: '⬜' } as const;

/** Formats a to-do list for people (G12), in Markdown: its progress, then one item per line. */
export function formatTodoList(
  items: readonly { readonly text: string; readonly state: keyof typeof TODO_SIGNS }[],
): string {
  const done = items.filter(({ state }) => state === 'done').length;
  const lines = items.map(
    ({ text, state }) => `- ${TODO_SIGNS[state]} ${toDisplayLine(text).replace(/\s+/g, ' ')}`,
  );
  return [`${done} of ${items.length} done:`, '', ...lines].join('\n');
}

/** The maximum length of a line of tool arguments, in characters. */
const ARGUMENT_CHARACTERS = 120;

/**
 * Formats the arguments of a tool call (JSON) on one line: its strings and numbers, without field
 * names.
 */
export function formatArguments(json: string): string {
  const line = toDisplayLine(listLeaves(parseJsonOrUndefined(json)).join(' · '))
    .replaceAll(/\s+/g, ' ')
    .trim();
  if (line.length <= ARGUMENT_CHARACTERS) return line;
  return `${line.slice(0, ARGUMENT_CHARACTERS - 1).toWellFormed()}…`;
}

function listLeaves(value: unknown): readonly string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(listLeaves);
  return value === null || value === undefined || value === '' ? [] : [String(value)];
}

function parseJsonOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const NOTHING = /^\s*(?:null|none|undefined|n\/a|nil)?\s*$/i;

/**
 * Whether a value is a placeholder that models write into a field that they do not intend to fill:
 * null, `""`, `"none"`.
 */
export function isPlaceholder(value: unknown): boolean {
  return value === null || (typeof value === 'string' && NOTHING.test(value));
}
