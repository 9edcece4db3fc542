import {
  type Comment,
  type ImportDeclaration,
  type Node,
  type Program,
  parseSync,
  Visitor,
} from 'oxc-parser';

/** A name from another module: its name in that module, or `*` for all of its exports. */
export interface ImportedName {
  readonly module: string;
  readonly name: string;
}

/** A reference within a declaration to something declared elsewhere. */
export interface Reference {
  /** Offsets into the text of the declaration. */
  readonly start: number;
  readonly end: number;
  /** A name in the module's scope, or a name from another module (`import('./x.ts').Name`). */
  readonly to: string | ImportedName;
  /** The name after the first dot, if there is one: `core` in `z.core.$strict`. */
  readonly member: { readonly name: string; readonly end: number } | undefined;
}

/** A statement that declares something, without the `export` keyword. */
export interface Declaration {
  readonly start: number;
  /** Includes the declaration's comment. */
  readonly text: string;
  /** True if it declares a value; false if it declares only a type. */
  readonly isValue: boolean;
  readonly references: readonly Reference[];
}

/** What a declaration file imports, exports and declares. */
export interface DeclarationModule {
  readonly imports: ReadonlyMap<string, ImportedName>;
  readonly exports: ReadonlyMap<string, string | ImportedName>;
  /** The names that are exported as types only. */
  readonly typesOnly: ReadonlySet<string>;
  /** The modules whose exports are all re-exported. */
  readonly stars: readonly string[];
  /** A type and a value may share a name, and so may overloads. */
  readonly declarations: ReadonlyMap<string, readonly Declaration[]>;
}

/** Parses a declaration file written by the compiler. */
export function parseDeclarations(file: string, text: string): DeclarationModule {
  const { program, comments, errors } = parseSync(file, text);
  const [error] = errors;
  if (error !== undefined) throw new Error(`${file} cannot be parsed: ${error.message}`);
  const module = {
    imports: new Map<string, ImportedName>(),
    exports: new Map<string, string | ImportedName>(),
    typesOnly: new Set<string>(),
    stars: [] as string[],
    declarations: new Map<string, Declaration[]>(),
  };
  for (const statement of program.body) {
    if (statement.type === 'ImportDeclaration') parseImport(statement, module.imports);
    else if (statement.type === 'ExportAllDeclaration') module.stars.push(statement.source.value);
    else if (statement.type === 'ExportNamedDeclaration' && statement.declaration === null) {
      parseExports(statement, module);
    } else {
      const isExport = statement.type === 'ExportNamedDeclaration';
      const declared = isExport ? statement.declaration : statement;
      if (declared === null) continue;
      const found = parseDeclaration(text, statement, declared, comments);
      for (const { name } of listDeclaredNames(declared)) {
        module.declarations.set(name, [...(module.declarations.get(name) ?? []), found]);
        if (isExport) module.exports.set(name, name);
      }
    }
  }
  return module;
}

type Statement = Program['body'][number];
type ExportStatement = Extract<Statement, { type: 'ExportNamedDeclaration' }>;
type ModuleExportName = { readonly name: string } | { readonly value: string };

const nameIn = (named: ModuleExportName): string => ('name' in named ? named.name : named.value);

function parseImport(
  { source, specifiers }: ImportDeclaration,
  imports: Map<string, ImportedName>,
) {
  for (const specifier of specifiers) {
    const names = {
      ImportSpecifier: () => nameIn('imported' in specifier ? specifier.imported : specifier.local),
      ImportDefaultSpecifier: () => 'default',
      ImportNamespaceSpecifier: () => '*',
    };
    imports.set(specifier.local.name, { module: source.value, name: names[specifier.type]() });
  }
}

function parseExports(
  { source, specifiers, exportKind }: ExportStatement,
  {
    exports,
    typesOnly,
  }: { readonly exports: Map<string, string | ImportedName>; readonly typesOnly: Set<string> },
): void {
  for (const specifier of specifiers) {
    const name = nameIn(specifier.exported);
    const local = nameIn(specifier.local);
    exports.set(name, source === null ? local : { module: source.value, name: local });
    if (exportKind === 'type' || specifier.exportKind === 'type') typesOnly.add(name);
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
}

function listDeclaredNames(declared: Node): readonly (Span & { readonly name: string })[] {
  if (declared.type === 'VariableDeclaration') {
    return declared.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id] : []));
  }
  const id = 'id' in declared ? declared.id : null;
  return typeof id === 'object' && id !== null && 'name' in id ? [id] : [];
}

const TYPES: ReadonlySet<string> = new Set(['TSInterfaceDeclaration', 'TSTypeAliasDeclaration']);

function parseDeclaration(
  text: string,
  statement: Span,
  declared: Node,
  comments: readonly Comment[],
): Declaration {
  const comment = comments.findLast(({ end }) => end <= statement.start);
  const isAbove = comment && text.slice(comment.end, statement.start).trim() === '';
  const head =
    isAbove && comment.type === 'Block' ? `${text.slice(comment.start, comment.end)}\n` : '';
  const shift = declared.start - head.length;
  const found: Reference[] = listDeclaredNames(declared).map(({ start, name }) => {
    // The parser includes the type in the span of a variable's name.
    const end = start + name.length;
    return { start: start - shift, end: end - shift, to: name, member: undefined };
  });
  for (const one of listReferences(declared)) {
    const member = one.member && { ...one.member, end: one.member.end - shift };
    found.push({ ...one, start: one.start - shift, end: one.end - shift, member });
  }
  return {
    start: statement.start,
    text: head + text.slice(declared.start, statement.end),
    isValue: !TYPES.has(declared.type),
    references: found,
  };
}

/** Finds the names in a declaration that refer to something outside it. */
function listReferences(declared: Node): readonly Reference[] {
  const found: Reference[] = [];
  const parameters = new Set<string>();
  const note = (node: Node): void => {
    const [first, second] = listPathNames(node);
    if (first === undefined) return;
    const member = second && { name: second.name, end: second.end };
    found.push({ start: first.start, end: first.end, to: first.name, member });
  };
  new Visitor({
    TSTypeParameter: ({ name }) => void parameters.add(name.name),
    TSMappedType: ({ key }) => void parameters.add(key.name),
    TSTypeReference: ({ typeName }) => note(typeName),
    TSTypeQuery: ({ exprName }) => note(exprName),
    TSInterfaceHeritage: ({ expression }) => note(expression),
    TSClassImplements: ({ expression }) => note(expression),
    ClassDeclaration: ({ superClass }) => superClass && note(superClass),
    TSImportType({ start, source, qualifier }) {
      const [first] = qualifier === null ? [] : listPathNames(qualifier);
      if (first === undefined) throw new Error(`import('${source.value}') names nothing.`);
      const to = { module: source.value, name: first.name };
      found.push({ start, end: first.end, to, member: undefined });
    },
  }).visit({
    type: 'Program',
    sourceType: 'module',
    hashbang: null,
    body: [declared as Statement],
    start: declared.start,
    end: declared.end,
  });
  return found.filter(({ to }) => typeof to !== 'string' || !parameters.has(to));
}

/** The names of `a.b.c`, each with its position. */
function listPathNames(node: Node): readonly (Span & { readonly name: string })[] {
  if (node.type === 'Identifier') return [node];
  if (node.type === 'TSQualifiedName') return [...listPathNames(node.left), node.right];
  if (node.type === 'MemberExpression')
    return [...listPathNames(node.object), ...listPathNames(node.property)];
  return [];
}
