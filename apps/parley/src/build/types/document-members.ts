import { type Node, parseSync, Visitor } from 'oxc-parser';

/**
 * Copies the comments on a schema's fields from the source into its declaration, because the
 * compiler omits them: `channel: z.ZodString` does not say what the value means.
 */
export function documentMembers(declarations: string, source: string): string {
  const comments = collectSchemaComments(source);
  const inserted: { readonly at: number; readonly text: string }[] = [];
  const { program } = parseSync('declarations.d.ts', declarations);
  new Visitor({
    VariableDeclarator({ id }) {
      if (id.type !== 'Identifier') return;
      const fields = comments.get(id.name);
      if (fields !== undefined && id.typeAnnotation) annotate(id.typeAnnotation, fields);
    },
  }).visit(program);
  return inserted
    .toSorted((a, b) => b.at - a.at)
    .reduce(
      (text, { at, text: comment }) => text.slice(0, at) + comment + text.slice(at),
      declarations,
    );

  function annotate(type: Node, fields: DocumentedFields): void {
    const literal = findLiteralWithFields(type, fields);
    for (const member of literal?.members ?? []) {
      if (member.type !== 'TSPropertySignature' || member.key.type !== 'Identifier') continue;
      const field = fields.get(member.key.name);
      if (field?.comment !== undefined) {
        const indent = /[ \t]*$/.exec(declarations.slice(0, member.start))?.[0] ?? '';
        inserted.push({
          at: member.start,
          text: `${indentComment(field.comment, indent)}\n${indent}`,
        });
      }
      if (field?.fields !== undefined && member.typeAnnotation) {
        annotate(member.typeAnnotation, field.fields);
      }
    }
  }
}

/** The documented fields of an object in the source, keyed by name. */
type DocumentedFields = ReadonlyMap<string, DocumentedField>;
interface DocumentedField {
  readonly comment: string | undefined;
  /** The fields of the value, if it contains an object. */
  readonly fields: DocumentedFields | undefined;
}

function collectSchemaComments(source: string): ReadonlyMap<string, DocumentedFields> {
  const { program, comments } = parseSync('source.ts', source);
  const commentBefore = (start: number): string | undefined => {
    const found = comments.findLast(({ end }) => end <= start);
    const isNear = found !== undefined && source.slice(found.end, start).trim() === '';
    return isNear && found.value.startsWith('*') ? `/*${found.value}*/` : undefined;
  };
  const schemas = new Map<string, DocumentedFields>();
  const fieldsOf = (value: Node): DocumentedFields | undefined => {
    const object = findInCalls(value, (node) =>
      node.type === 'ObjectExpression' ? node : undefined,
    );
    if (object === undefined) {
      // A schema declared earlier in the file: `chat: Chat`.
      return findInCalls(value, (node) =>
        node.type === 'Identifier' ? schemas.get(node.name) : undefined,
      );
    }
    const named = object.properties.flatMap((property): [string, DocumentedField][] => {
      if (property.type !== 'Property' || property.key.type !== 'Identifier') return [];
      const { start, key } = property;
      return [[key.name, { comment: commentBefore(start), fields: fieldsOf(property.value) }]];
    });
    return new Map(named);
  };
  new Visitor({
    VariableDeclarator({ id, init }) {
      const fields = init === null ? undefined : fieldsOf(init);
      if (id.type === 'Identifier' && fields !== undefined) schemas.set(id.name, fields);
    },
  }).visit(program);
  return schemas;
}

type LiteralNode = Extract<Node, { type: 'TSTypeLiteral' }>;

/** The first match inside calls such as `z.array(z.strictObject({ … })).optional()`. */
function findInCalls<Found>(
  node: Node,
  find: (node: Node) => Found | undefined,
): Found | undefined {
  if (node.type === 'MemberExpression') return findInCalls(node.object, find);
  if (node.type !== 'CallExpression') return find(node);
  const inArguments = node.arguments.map((one) => findInCalls(one, find));
  return inArguments.find((found) => found !== undefined) ?? findInCalls(node.callee, find);
}

/** The type literal in `z.ZodOptional<z.ZodObject<{ … }>>` that has these fields. */
function findLiteralWithFields(type: Node, fields: DocumentedFields): LiteralNode | undefined {
  if (type.type === 'TSTypeLiteral') {
    const names = type.members.map((member) =>
      member.type === 'TSPropertySignature' && member.key.type === 'Identifier'
        ? member.key.name
        : '',
    );
    return [...fields.keys()].every((name) => names.includes(name)) ? type : undefined;
  }
  if (type.type === 'TSTypeAnnotation') return findLiteralWithFields(type.typeAnnotation, fields);
  if (type.type !== 'TSTypeReference') return undefined;
  const inside = type.typeArguments?.params ?? [];
  return inside
    .map((one) => findLiteralWithFields(one, fields))
    .find((found) => found !== undefined);
}

/** Formats a comment with each line at this indent. */
function indentComment(comment: string, indent: string): string {
  return comment.replaceAll(/\n\s*/g, `\n${indent} `);
}
