/** A field with its arguments, a fragment by name, or an inline fragment. */
type Selection =
  | {
      readonly kind: 'field';
      readonly as: string;
      readonly name: string;
      readonly args: Readonly<Record<string, ArgumentValue>>;
      readonly selections: readonly Selection[] | undefined;
    }
  | { readonly kind: 'spread'; readonly name: string }
  | {
      readonly kind: 'inline';
      readonly type: string | undefined;
      readonly selections: readonly Selection[];
    };

type ArgumentValue =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'list'; readonly items: readonly ArgumentValue[] }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, ArgumentValue>> };

interface GraphQlDocument {
  readonly operation: 'query' | 'mutation';
  readonly selections: readonly Selection[];
  readonly fragments: ReadonlyMap<string, readonly Selection[]>;
}

type FieldArguments = Readonly<Record<string, unknown>>;

/** The fields of an object; functions are called with the arguments of the field. */
export type GraphQlObject = { readonly [field: string]: unknown };

/** The entry points of the schema, by operation. */
export type GraphQlRoots = Readonly<Record<'query' | 'mutation', GraphQlObject>>;

const TOKEN = /"(?:[^"\\]|\\.)*"|\.\.\.|[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[{}()[\]:=!$@]/g;

/**
 * Runs a query or mutation on plain objects. Returns only the requested fields; a missing field is
 * null, and an unknown entry point or an unreadable query is an error. Directives are not
 * supported.
 */
export async function runGraphQl(
  roots: GraphQlRoots,
  text: string,
  variables: FieldArguments,
): Promise<unknown> {
  const document = new GraphQlParser(text).read();
  const root = roots[document.operation];
  for (const selection of document.selections) {
    if (selection.kind === 'field' && !(selection.name in root)) {
      throw new Error(`Cannot query field "${selection.name}" on type "${document.operation}".`);
    }
  }
  return projectValue(root, document.selections, { document, variables });
}

interface QueryRun {
  readonly document: GraphQlDocument;
  readonly variables: FieldArguments;
}

async function projectValue(
  value: unknown,
  wanted: readonly Selection[],
  run: QueryRun,
): Promise<unknown> {
  if (value === null || value === undefined) return null;
  if (Array.isArray(value))
    return Promise.all(value.map((item) => projectValue(item, wanted, run)));
  const object = value as GraphQlObject;
  const shown: Record<string, unknown> = {};
  for (const selection of wanted) {
    if (selection.kind !== 'field') {
      Object.assign(shown, await projectValue(value, findFragment(object, selection, run), run));
      continue;
    }
    const { as, name, selections } = selection;
    const field = object[name];
    const args = () => resolveValue({ kind: 'object', fields: selection.args }, run.variables);
    const result: unknown = typeof field === 'function' ? await field(args()) : field;
    shown[as] =
      selections === undefined ? (result ?? null) : await projectValue(result, selections, run);
  }
  return shown;
}

function findFragment(
  object: GraphQlObject,
  selection: Exclude<Selection, { readonly kind: 'field' }>,
  { document }: QueryRun,
): readonly Selection[] {
  if (selection.kind === 'spread') {
    const found = document.fragments.get(selection.name);
    if (found === undefined) throw new Error(`Unknown fragment "${selection.name}".`);
    return found;
  }
  const { type } = selection;
  return type === undefined || type === object.__typename ? selection.selections : [];
}

function resolveValue(value: ArgumentValue, variables: FieldArguments): unknown {
  switch (value.kind) {
    case 'variable':
      return variables[value.name];
    case 'value':
      return value.value;
    case 'list':
      return value.items.map((item) => resolveValue(item, variables));
    case 'object': {
      const entries = Object.entries(value.fields);
      return Object.fromEntries(entries.map(([name, one]) => [name, resolveValue(one, variables)]));
    }
  }
}

/** Reads a document with one operation and its fragments. */
class GraphQlParser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = text.replaceAll(/#.*/g, '').match(TOKEN) ?? [];
  }

  read(): GraphQlDocument {
    let operation: GraphQlDocument['operation'] = 'query';
    let selections: readonly Selection[] | undefined;
    const fragments = new Map<string, readonly Selection[]>();
    while (this.#at < this.#tokens.length) {
      const word = this.#tokens[this.#at];
      if (word === 'fragment') {
        this.#at += 1;
        const name = this.#next();
        this.#skipUntil('{');
        fragments.set(name, this.#selections());
        continue;
      }
      if (word !== '{') {
        if (word !== 'query' && word !== 'mutation') throw new Error(`Unexpected "${word}".`);
        operation = word;
        this.#skipUntil('{');
      }
      selections = this.#selections();
    }
    if (selections === undefined) throw new Error('There is no operation.');
    return { operation, selections, fragments };
  }

  /** Variable names and declarations do not contain braces, unless a variable has a default. */
  #skipUntil(token: string): void {
    while (this.#tokens[this.#at] !== token) this.#next();
  }

  #selections(): readonly Selection[] {
    this.#expect('{');
    const found: Selection[] = [];
    while (!this.#takes('}')) found.push(this.#selection());
    return found;
  }

  #selection(): Selection {
    if (this.#takes('...')) {
      if (this.#takes('on')) {
        return { kind: 'inline', type: this.#next(), selections: this.#selections() };
      }
      if (this.#tokens[this.#at] === '{') {
        return { kind: 'inline', type: undefined, selections: this.#selections() };
      }
      return { kind: 'spread', name: this.#next() };
    }
    const as = this.#next();
    const name = this.#takes(':') ? this.#next() : as;
    const args = this.#takes('(') ? this.#fields(')') : {};
    const selections = this.#tokens[this.#at] === '{' ? this.#selections() : undefined;
    return { kind: 'field', as, name, args, selections };
  }

  #fields(end: string): Record<string, ArgumentValue> {
    const fields: Record<string, ArgumentValue> = {};
    while (!this.#takes(end)) {
      const name = this.#next();
      this.#expect(':');
      fields[name] = this.#value();
    }
    return fields;
  }

  #value(): ArgumentValue {
    const token = this.#next();
    if (token === '$') return { kind: 'variable', name: this.#next() };
    if (token === '{') return { kind: 'object', fields: this.#fields('}') };
    if (token === '[') {
      const items: ArgumentValue[] = [];
      while (!this.#takes(']')) items.push(this.#value());
      return { kind: 'list', items };
    }
    const isLiteral = /^["\d-]|^(?:true|false|null)$/.test(token);
    return { kind: 'value', value: isLiteral ? JSON.parse(token) : token };
  }

  #next(): string {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new Error('Unexpected end of the document.');
    this.#at += 1;
    return token;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }

  #expect(token: string): void {
    const found = this.#next();
    if (found !== token) throw new Error(`Expected "${token}", found "${found}".`);
  }
}
