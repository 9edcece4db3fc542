import { parseJsonValue, parseLenientJson } from '../calls/lenient-json.ts';
import { isObject, type JsonObject } from '../json-object.ts';

/** A call as a model wrote it into its text; the arguments are JSON. */
export interface TextToolCall {
  readonly name: string;
  readonly arguments: string;
}

/** A parser for one dialect; null if the text is not in that dialect. */
type CallParser = (body: string) => readonly TextToolCall[] | null;

/** Ordered from the most to the least distinctive dialect. */
const READERS: readonly CallParser[] = [
  parseSeparatedCalls,
  parseInvokedCalls,
  parseFunctionCalls,
  parseArgumentKeyCalls,
  parseGemmaCalls,
  parseJsonCalls,
  parseNamedJsonCalls,
  parsePythonCalls,
];

/**
 * Parses the calls in a block of text, in any dialect; null if it cannot be parsed as calls. `body`
 * is the text between the markers of the block.
 */
export function parseTextToolCalls(body: string): readonly TextToolCall[] | null {
  const text = stripFence(body.trim());
  for (const reader of READERS) {
    const calls = reader(text);
    if (calls !== null && calls.length > 0) return calls;
  }
  return null;
}

function stripFence(text: string): string {
  const [, body] =
    /^(?:`{3,}|~{3,})[\w-]*[ \t]*\n([\s\S]*?)\n?[ \t]*(?:`{3,}|~{3,})$/.exec(text) ?? [];
  return body?.trim() ?? text;
}

/**
 * Kimi, DeepSeek and gpt-oss: name and arguments separated by a token, one call after another.
 * DeepSeek R1 writes the type of the tool first, and puts its JSON in a fence.
 */
function parseSeparatedCalls(body: string): readonly TextToolCall[] | null {
  const harmony = /^\s*to=([\w.:/-]+)[^{]*(\{[\s\S]*)$/.exec(body);
  if (harmony !== null)
    return [toTextToolCall(harmony[1] ?? '', harmony[2] ?? '')].filter(isTextToolCall);
  if (!/<\|tool_call_argument_begin\|>|<｜tool▁sep｜>/i.test(body)) return null;
  const parts = body
    .split(/<\|tool_call_begin\|>|<｜tool▁call▁begin｜>/i)
    .filter((part) => part.trim() !== '');
  const calls = parts.map((part) => {
    const [before = '', after = ''] = part.split(/<\|tool_call_argument_begin\|>|<｜tool▁sep｜>/i);
    const text = after
      .replace(/<\|tool_call_end\|>|<｜tool▁call▁end｜>|<｜tool▁calls▁end｜>/gi, '')
      .trim();
    const [, name, json = ''] = /^([\w.:/-]+)[ \t]*\n([\s\S]+)$/.exec(text) ?? [];
    const isTyped = name !== undefined && /^\s*function\s*$/.test(before);
    return isTyped
      ? toTextToolCall(name, stripFence(json.trim()))
      : toTextToolCall(before.trim(), stripFence(text));
  });
  return calls.every(isTextToolCall) ? calls : null;
}

/**
 * The format of Anthropic, MiniMax and DeepSeek V3.2: `<invoke name="x"><parameter
 * name="y">z</parameter>`.
 */
function parseInvokedCalls(body: string): readonly TextToolCall[] | null {
  const blocks = [
    ...body.matchAll(
      /<[|｜\w:]*invoke\s+name\s*=\s*["']?([\w.:/-]+)["']?\s*>([\s\S]*?)(?:<\/[|｜\w:]*invoke>|$)/gi,
    ),
  ];
  return blocks.map(([, name = '', inner = '']) => ({
    name,
    arguments: JSON.stringify(
      parseParameters(
        inner,
        /<[|｜\w:]*parameter\s+name\s*=\s*["']?([^"'>\s]+)["']?[^>]*>([\s\S]*?)<\/[|｜\w:]*parameter>/gi,
      ),
    ),
  }));
}

/** Llama’s `<function=x>{…}</function>` and Qwen3-Coder’s `<function=x><parameter=y>z</parameter></function>`. */
function parseFunctionCalls(body: string): readonly TextToolCall[] | null {
  const blocks = [
    ...body.matchAll(
      /<function\s*=\s*["']?([\w.:/-]+)["']?\s*>([\s\S]*?)(?:<\/function>|(?=<function\s*=)|$)/gi,
    ),
  ];
  const calls = blocks.map(([, name = '', inner = '']) => {
    const text = inner.trim();
    if (text.startsWith('{')) return toTextToolCall(name, text);
    const values = parseParameters(
      inner,
      /<parameter\s*=\s*["']?([^"'>\s]+)["']?\s*>([\s\S]*?)(?:<\/parameter>|(?=<parameter\s*=)|$)/gi,
    );
    return { name, arguments: JSON.stringify(values) };
  });
  return calls.every(isTextToolCall) ? calls : null;
}

/**
 * GLM and Hunyuan: the name, followed by `<arg_key>y</arg_key><arg_value>z</arg_value>` for each
 * argument.
 */
function parseArgumentKeyCalls(body: string): readonly TextToolCall[] | null {
  const [, name, inner = ''] =
    /^([a-z_][\w.:/-]*)\s*(?:<tool_sep>)?\s*(<arg_key>[\s\S]*)?$/i.exec(body) ?? [];
  if (name === undefined) return null;
  const values = parseParameters(
    inner,
    /<arg_key>\s*([\s\S]*?)\s*<\/arg_key>\s*<arg_value>([\s\S]*?)(?:<\/arg_value>|$)/gi,
  );
  return [{ name, arguments: JSON.stringify(values) }];
}

/**
 * The values remain text, because only the tool's schema defines their types. The line breaks
 * around the values belong to the format.
 */
function parseParameters(text: string, pattern: RegExp): JsonObject {
  return Object.fromEntries(
    [...text.matchAll(pattern)].map(([, key = '', value = '']) => [
      key.trim(),
      value.replace(/^\n/, '').replace(/\n[ \t]*$/, ''),
    ]),
  );
}

/** Gemma 4: `call:name{key:<|"|>text<|"|>,count:3}`. */
function parseGemmaCalls(body: string): readonly TextToolCall[] | null {
  const parts = body.split(/<tool_call\|>|<\|tool_call>/).filter((part) => part.trim() !== '');
  const calls = parts.map((part) => {
    const [, name, inner] = /^\s*call:([\w.:/-]+)\s*(\{[\s\S]*\})\s*$/.exec(part) ?? [];
    if (name === undefined || inner === undefined) return null;
    const quoted = inner.replace(/<\|"\|>([\s\S]*?)<\|"\|>/g, (_, text: string) =>
      JSON.stringify(text),
    );
    return toTextToolCall(name, quoted);
  });
  return calls.every(isTextToolCall) ? calls : null;
}

const NAME_KEYS = [
  'name',
  'tool_name',
  'tool',
  'function_name',
  'function',
  'recipient_name',
  'action',
];
const ARGUMENT_KEYS = [
  'arguments',
  'parameters',
  'args',
  'params',
  'input',
  'tool_input',
  'action_input',
  'kwargs',
];

/** Parses one object, a list of objects, or several objects in a row. */
function parseJsonCalls(body: string): readonly TextToolCall[] | null {
  const calls: TextToolCall[] = [];
  let rest = body.replace(/^(?:\[tool_calls\]|functools)\s*/i, '');
  while (rest.trim() !== '') {
    const whole = parseLenientJson(rest);
    const first = whole.ok ? null : parseJsonValue(rest.trimStart());
    if (!whole.ok && !first?.ok) return null;
    const value = whole.ok ? whole.value : first?.ok ? first.value : null;
    const items = Array.isArray(value)
      ? value
      : isObject(value) && Array.isArray(value.tool_calls)
        ? value.tool_calls
        : [value];
    for (const item of items) {
      const call = toCallFromObject(item);
      if (call === null) return null;
      calls.push(call);
    }
    if (!first?.ok) break;
    rest = rest
      .trimStart()
      .slice(first.end)
      .replace(/^\s*(?:[,;\]]|\[tool_calls\])/i, '');
  }
  return calls;
}

function toCallFromObject(value: unknown): TextToolCall | null {
  if (!isObject(value)) return null;
  // `{"type": "function", "function": {"name": …, "arguments": …}}`
  if (isObject(value.function)) return toCallFromObject(value.function);
  const nameKey = NAME_KEYS.find((key) => typeof value[key] === 'string');
  if (nameKey === undefined) return null;
  const argumentKey = ARGUMENT_KEYS.find((key) => Object.hasOwn(value, key));
  const given = argumentKey === undefined ? {} : value[argumentKey];
  const written = typeof given === 'string' ? given : JSON.stringify(given);
  return { name: String(value[nameKey]), arguments: written };
}

/** Parses Mistral's `[TOOL_CALLS]name[CALL_ID]id[ARGS]{…}`, and the name followed by JSON. */
function parseNamedJsonCalls(body: string): readonly TextToolCall[] | null {
  const parts = body.split(/\[tool_calls\]/i).filter((part) => part.trim() !== '');
  const calls = parts.map((part) => {
    const named = /^\s*([\w.:/-]+)\s*(?:\[call_id\][\w-]*)?\s*(?:\[args\])?\s*(\{[\s\S]*)$/i.exec(
      part,
    );
    return named === null ? null : toTextToolCall(named[1] ?? '', named[2] ?? '');
  });
  return calls.every(isTextToolCall) ? calls : null;
}

/**
 * Parses `[name(a="x", b=3)]` and `print(default_api.name(a="x"))`; Llama’s built-in tools are
 * called as `name.call(…)`.
 */
function parsePythonCalls(body: string): readonly TextToolCall[] | null {
  let rest = body
    .trim()
    .replace(/^\[\s*(?=[a-z_][\w.]*\()/i, '')
    .replace(/\)\s*\]$/, ')');
  const calls: TextToolCall[] = [];
  while (rest !== '') {
    const printed = /^print\(([\s\S]*)\)$/.exec(rest);
    if (printed?.[1] !== undefined && /^[a-z_][\w.]*\(/i.test(printed[1])) {
      rest = printed[1];
      continue;
    }
    const [head, name = ''] = /^([a-z_][\w.]*)\(/i.exec(rest) ?? [];
    if (head === undefined) return null;
    const read = parseKeywordArguments(rest.slice(head.length));
    if (read === null) return null;
    calls.push({ name: name.replace(/\.call$/, ''), arguments: JSON.stringify(read.values) });
    rest = rest.slice(head.length + read.end).replace(/^[\s,;]+/, '');
  }
  return calls;
}

/** `a="x", b=3)` */
function parseKeywordArguments(
  text: string,
): { readonly values: JsonObject; readonly end: number } | null {
  const entries: [string, unknown][] = [];
  let at = 0;
  for (;;) {
    const [blank = ''] = /^[\s,]*/.exec(text.slice(at)) ?? [];
    at += blank.length;
    if (text[at] === ')') return { values: Object.fromEntries(entries), end: at + 1 };
    const [head, key = ''] = /^([a-z_]\w*)\s*=\s*/i.exec(text.slice(at)) ?? [];
    if (head === undefined) return null;
    at += head.length;
    const read = parseJsonValue(text.slice(at));
    if (!read.ok) return null;
    entries.push([key, read.value]);
    at += read.end;
  }
}

/** Null if the arguments are not an object. */
function toTextToolCall(name: string, json: string): TextToolCall | null {
  const read = parseLenientJson(json);
  if (!read.ok || !isObject(read.value)) return null;
  return { name: name.trim(), arguments: JSON.stringify(read.value) };
}

function isTextToolCall(call: TextToolCall | null): call is TextToolCall {
  return call !== null && call.name !== '';
}
