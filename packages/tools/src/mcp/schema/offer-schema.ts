import {
  type CleaningState,
  cleanNode,
  type SchemaPosition,
  SchemaTooLargeError,
} from './clean-node.ts';
import { type Block, toBlock, toStrings } from './json-block.ts';
import { mergeAllOf } from './merge.ts';
import {
  createPropertyNames,
  listDescribedNames,
  type PropertyNames,
  type PropertyRenames,
} from './property-names.ts';
import { listTypes } from './types.ts';

/** A JSON Schema that Parley built from the server's schema. */
export type CleanSchema = Readonly<Record<string, unknown>>;

/** How the model's arguments differ from the server's. */
export interface ArgumentShape {
  /** The single property that holds all arguments. */
  readonly wrappedIn?: string;
  /** The properties that have another name for the model. */
  readonly renamed?: PropertyRenames;
}

/** The schema of a tool's arguments as the model sees it. */
export interface OfferedSchema {
  /**
   * The schema's root is always an object without alternatives, because OpenAI and Anthropic refuse
   * any other root.
   */
  readonly schema: CleanSchema;
  readonly shape: ArgumentShape;
  /** What was simplified, as a sentence for the operator; null if nothing was. */
  readonly remark: string | null;
}

/** The depths to try, because a schema that is too large is shown with fewer levels. */
const DEPTHS = [10, 6, 4, 3, 2, 1] as const;
const MAX_CHARACTERS = 16_000;
/** The maximum length of a schema sent as a string, in characters. */
const MAX_TEXT = 200_000;

/**
 * Rebuilds the schema of a tool's arguments so that every provider accepts it. The result is
 * limited in depth and size, references are resolved, and regular expressions are removed, because
 * they could run forever. Throws an Error with the reason why the tool cannot be offered.
 */
export function createOfferedSchema(said: unknown): OfferedSchema {
  const root = getRootSchema(said);
  const described = listDescribedNames(root);
  for (const deepest of DEPTHS) {
    const names = createPropertyNames(described);
    const offered = tryCleanRoot({ root, deepest, nodes: 0 }, names);
    if (offered === null) continue;
    const { schema, wrappedIn } = offered;
    return {
      schema,
      shape: {
        ...(wrappedIn !== undefined && { wrappedIn }),
        ...(names.isRenamed() && { renamed: names }),
      },
      remark:
        deepest === DEPTHS[0]
          ? null
          : `the description of its arguments is too large, so only ${deepest} levels of it are shown`,
    };
  }
  throw new Error('the description of its arguments is too large');
}

/** A missing schema means a tool without arguments. Some servers send the schema as a string. */
function getRootSchema(said: unknown): Block {
  const value = typeof said === 'string' && said.trim() !== '' ? parseSchemaText(said) : said || {};
  if (value === undefined || value === null || typeof value === 'boolean') return {};
  const root = toBlock(value);
  if (root === undefined) throw new Error('the schema of its arguments is not a JSON object');
  return isPropertiesOnly(root) ? { type: 'object', properties: root } : root;
}

/** Whether a server sent only the properties, without the object around them. */
function isPropertiesOnly(root: Block): boolean {
  const all = Object.entries(root);
  return (
    all.length > 0 &&
    all.every(([name, said]) => {
      const type = toBlock(said)?.type;
      return !KEYWORDS.has(name) && (typeof type === 'string' || Array.isArray(type));
    })
  );
}

/** Keywords whose values are objects that have a `type` themselves. */
const KEYWORDS = new Set([
  'items',
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'contains',
]);

function parseSchemaText(text: string): unknown {
  try {
    if (text.length <= MAX_TEXT) return JSON.parse(text);
  } catch {
    // Invalid JSON causes the same error as a text that is too long.
  }
  throw new Error('the schema of its arguments is a text that is not JSON');
}

interface CleaningAttempt {
  readonly schema: CleanSchema;
  readonly wrappedIn?: string;
}

/** Returns null when the schema is too large at this depth. */
function tryCleanRoot(at: CleaningState, names: PropertyNames): CleaningAttempt | null {
  try {
    const made = cleanRoot(at, names);
    return JSON.stringify(made.schema).length > MAX_CHARACTERS ? null : made;
  } catch (error) {
    if (error instanceof SchemaTooLargeError) return null;
    throw error;
  }
}

/** Marks the root as visited, because a nested reference to it would repeat everything. */
const WITHIN_ROOT: readonly string[] = ['#'];

function cleanRoot(at: CleaningState, names: PropertyNames): CleaningAttempt {
  const { node, within } = mergeAllOf(at.root, at.root, WITHIN_ROOT);
  const place = { depth: 0, within, names };
  const { anyOf, oneOf, enum: _enum, const: _const, default: _default, ...rest } = node;
  // Arguments are never null: a call without arguments sends an empty object.
  const { nullable: _nullable, ...plain } = rest;
  const types = listTypes(plain);
  if (types?.some((type) => type !== 'null') === true && !types.includes('object')) {
    throw new Error(`its arguments are not an object but ${types.join(' or ')}`);
  }
  const said = [anyOf, oneOf].find((one) => Array.isArray(one));
  const forms = Array.isArray(said) ? listObjectAlternatives(said, at, within) : [];
  if (Array.isArray(said) && said.length > 0 && forms.length === 0) {
    throw new Error('none of the forms that its arguments can have is an object');
  }
  const [only] = forms;
  if (only === undefined) return { schema: cleanObject(plain, at, place) };
  if (forms.length === 1)
    return { schema: cleanObject(combineAlternatives(plain, only), at, place) };
  if (forms.every(isRequirementOnly)) {
    const description = [...toStrings(plain.description), describeRequirements(forms)].join(' ');
    return { schema: cleanObject({ ...plain, description }, at, place) };
  }
  return wrapAlternatives(plain, forms, at, place);
}

function cleanObject(node: Block, at: CleaningState, place: SchemaPosition): CleanSchema {
  return cleanNode({ ...node, type: 'object' }, at, place);
}

/**
 * The alternatives that an object can match. The type `null` is dropped; a call without arguments
 * sends an empty object.
 */
function listObjectAlternatives(
  said: readonly unknown[],
  at: CleaningState,
  within: readonly string[],
): readonly Block[] {
  return said.flatMap((one) => {
    if (toBlock(one) === undefined) return [];
    const { node } = mergeAllOf(one, at.root, within);
    const types = listTypes(node);
    return types === undefined || types.includes('object') ? [node] : [];
  });
}

/** Whether an alternative only lists which of the sibling properties are required. */
function isRequirementOnly(form: Block): boolean {
  return form.properties === undefined && toStrings(form.required).length > 0;
}

function describeRequirements(forms: readonly Block[]): string {
  const each = forms.map(({ required }) => toStrings(required).join(' and '));
  return `Needs: ${each.join(', or ')}.`;
}

function combineAlternatives(plain: Block, form: Block): Block {
  return { allOf: [{ ...plain, type: 'object' }, form] };
}

/** Turns several alternatives into one property, whose value alone is sent to the server. */
function wrapAlternatives(
  plain: Block,
  forms: readonly Block[],
  at: CleaningState,
  place: SchemaPosition,
): CleaningAttempt {
  const { description, title, ...rest } = plain;
  const options = forms.map((form) => ({ ...combineAlternatives(rest, form), type: 'object' }));
  const said = toStrings(description)[0] ?? toStrings(title)[0];
  const inner = { anyOf: options, ...(said !== undefined && { description: said }) };
  const wrappedIn = chooseWrapperName(
    options.flatMap((option) => listPropertyNames(option, at, place.within)),
  );
  const properties = { [wrappedIn]: cleanNode(inner, at, place) };
  return { schema: { type: 'object', properties, required: [wrappedIn] }, wrappedIn };
}

function listPropertyNames(
  option: Block,
  at: CleaningState,
  within: readonly string[],
): readonly string[] {
  return Object.keys(toBlock(mergeAllOf(option, at.root, within).node.properties) ?? {});
}

/**
 * A name that no property uses, so that arguments sent without the wrapping property can be
 * recognized.
 */
function chooseWrapperName(taken: readonly string[]): string {
  let name = 'input';
  for (let nth = 2; taken.includes(name); nth += 1) name = `input_${nth}`;
  return name;
}
