import type { ModelTool, ModelToolCall } from '../chat-model.ts';
import { isObject, type JsonObject } from '../json-object.ts';
import { coerceValue, type SchemaMismatch } from './fit-value.ts';
import { parseLenientJson } from './lenient-json.ts';
import { resolveToolName } from './tool-name.ts';

/** A call in the form that its tool accepts, or the reason why it cannot be converted. */
export type CoercedCall =
  | { readonly kind: 'fits'; readonly call: ModelToolCall }
  | { readonly kind: 'no-tool'; readonly problem: string }
  /** The tool exists, but its arguments do not match its schema; `problem` tells the model why. */
  | { readonly kind: 'misfit'; readonly call: ModelToolCall; readonly problem: string };

/**
 * Converts a model's call to the form that its tool accepts, if only one interpretation is
 * possible: corrects a misspelled tool name, and adapts the arguments to the schema. A call that is
 * already valid is returned unchanged.
 */
export function coerceCall(call: ModelToolCall, offered: readonly ModelTool[]): CoercedCall {
  const named = resolveToolName(
    call.name,
    offered.map(({ name }) => name),
  );
  if (named.kind !== 'tool')
    return { kind: 'no-tool', problem: describeNameProblem(call.name, named, offered) };
  const { name } = named;
  const tool = offered.find((one) => one.name === name);
  const known = name === call.name ? call : { ...call, name };
  const read = parseArguments(call.arguments);
  if (!read.ok) {
    return {
      kind: 'misfit',
      call: known,
      problem: `its arguments are not a JSON object: ${read.problem}`,
    };
  }
  const schema = tool?.inputSchema ?? {};
  const fitted = coerceArguments(read.value, schema);
  if ('problem' in fitted)
    return { kind: 'misfit', call: known, problem: describeMismatch(fitted.problem) };
  const isAsWritten = fitted.value === read.value && read.isJson;
  return {
    kind: 'fits',
    call: isAsWritten ? known : { ...known, arguments: JSON.stringify(fitted.value) },
  };
}

function describeNameProblem(
  written: string,
  named: Exclude<ReturnType<typeof resolveToolName>, { kind: 'tool' }>,
  offered: readonly ModelTool[],
): string {
  const name = JSON.stringify(written.slice(0, 80).toWellFormed());
  if (named.kind === 'ambiguous')
    return `${name} may be ${named.names.join(' or ')}; write one of these names exactly`;
  const names = offered.map((one) => one.name).join(', ');
  return names === ''
    ? `there is no tool ${name}`
    : `there is no tool ${name}; there are: ${names}`;
}

type ParsedArguments =
  /** `isJson`: the text is already the JSON of this object. */
  | { readonly ok: true; readonly value: JsonObject; readonly isJson: boolean }
  | { readonly ok: false; readonly problem: string };

/** How many layers of encoding or wrapping are removed from arguments. */
const MAX_ENCODED = 3;

/**
 * Parses the arguments as an object; for a tool without parameters, models write an empty string or
 * a placeholder.
 */
function parseArguments(written: string): ParsedArguments {
  if (/^\s*(?:null|none|undefined|""|\[\s*\])?\s*$/i.test(written)) {
    return { ok: true, value: {}, isJson: written.trim() === '' };
  }
  let text = written;
  for (let times = 0; times < MAX_ENCODED; times += 1) {
    const read = parseLenientJson(text);
    if (!read.ok) return read;
    const { value } = read;
    if (isObject(value)) return { ok: true, value, isJson: times === 0 && isStrictJson(written) };
    if (Array.isArray(value) && value.length === 1 && isObject(value[0])) {
      return { ok: true, value: value[0], isJson: false };
    }
    if (typeof value !== 'string') {
      return {
        ok: false,
        problem: `they are ${Array.isArray(value) ? 'a list' : `only ${JSON.stringify(value)}`}`,
      };
    }
    if (value.trim() === '') return { ok: true, value: {}, isJson: false };
    text = value;
  }
  return { ok: false, problem: 'they are text within text' };
}

function isStrictJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Names under which some models nest all arguments. */
const WRAPPERS: ReadonlySet<string> = new Set([
  'arguments',
  'parameters',
  'params',
  'args',
  'kwargs',
  'input',
  'inputs',
  'tool_input',
  'properties',
]);
/** Keys that may appear next to those names. */
const LABELS: ReadonlySet<string> = new Set([
  'name',
  'tool',
  'tool_name',
  'function',
  'type',
  'id',
]);

function coerceArguments(
  value: JsonObject,
  schema: ModelTool['inputSchema'],
): { readonly value: unknown } | { readonly problem: SchemaMismatch } {
  const inner = unwrapArguments(value, schema);
  const fitted = coerceValue(inner ?? value, schema, schema);
  return fitted.ok ? fitted : { problem: fitted.problem };
}

/**
 * The object within `{"arguments": {…}}`; null if there is no such object, or if the tool has a
 * property with that name. The object is unwrapped only if the schema declares all of its
 * properties, which rules out any other interpretation.
 */
function unwrapArguments(
  value: JsonObject,
  schema: ModelTool['inputSchema'],
  layers = MAX_ENCODED,
): JsonObject | null {
  if (layers === 0) return null;
  const { properties, additionalProperties: rest = false } = schema;
  const declared: JsonObject = isObject(properties) ? properties : {};
  const keys = Object.keys(value);
  if (rest !== false || keys.some((key) => Object.hasOwn(declared, key))) return null;
  const [wrapper, ...others] = keys.filter((key) => !LABELS.has(key.toLowerCase()));
  if (wrapper === undefined || others.length > 0 || !WRAPPERS.has(wrapper.toLowerCase()))
    return null;
  const given = value[wrapper];
  const read =
    typeof given === 'string' ? parseLenientJson(given) : { ok: true as const, value: given };
  if (!read.ok || !isObject(read.value)) return null;
  const inner = unwrapArguments(read.value, schema, layers - 1);
  if (inner !== null) return inner;
  const names = Object.keys(read.value);
  const isMeant = names.every((name) => Object.hasOwn(declared, name));
  return isMeant && (names.length > 0 || Object.keys(declared).length > 0) ? read.value : null;
}

/** Formats an error such as `at: expected text, but got 5`. */
function describeMismatch({ path, expected, found }: SchemaMismatch): string {
  const where = path === '' ? 'the arguments' : path;
  return found === undefined
    ? `${where} is missing: expected ${expected}`
    : `${where}: expected ${expected}, but got ${found}`;
}
