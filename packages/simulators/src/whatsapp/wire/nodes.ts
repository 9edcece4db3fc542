import { type BinaryNode, S_WHATSAPP_NET } from '@whiskeysockets/baileys';

/** Builds a stanza; attributes without a value are left out. */
export function node(
  tag: string,
  attrs: Readonly<Record<string, string | number | undefined>> = {},
  content?: BinaryNode[] | string | Uint8Array,
): BinaryNode {
  const kept = Object.entries(attrs).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const built: BinaryNode = { tag, attrs: Object.fromEntries(kept) };
  return content === undefined ? built : { ...built, content };
}

/** The stanzas inside a stanza, or those with a tag. */
export function children(parent: BinaryNode | undefined, tag?: string): BinaryNode[] {
  const all = Array.isArray(parent?.content) ? parent.content : [];
  return tag === undefined ? all : all.filter((child) => child.tag === tag);
}

/** The first stanza with a tag inside another. */
export function child(parent: BinaryNode | undefined, tag: string): BinaryNode | undefined {
  return children(parent, tag)[0];
}

/** What a stanza carries as bytes. Short texts come off the wire as strings. */
export function bytes(holder: BinaryNode | undefined): Buffer {
  const content = holder?.content;
  if (content === undefined || Array.isArray(content)) return Buffer.alloc(0);
  return Buffer.from(content);
}

/** A big-endian number of `length` bytes. */
export function bigEndian(value: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}

/** The answer to a query. */
export function result(query: BinaryNode, content?: BinaryNode[]): BinaryNode {
  const from = query.attrs.to ?? S_WHATSAPP_NET;
  return node('iq', { from, type: 'result', id: query.attrs.id }, content);
}

/** The refusal of a query. */
export function refusal(query: BinaryNode, code: number, text: string): BinaryNode {
  const from = query.attrs.to ?? S_WHATSAPP_NET;
  return node('iq', { from, type: 'error', id: query.attrs.id }, [node('error', { code, text })]);
}
