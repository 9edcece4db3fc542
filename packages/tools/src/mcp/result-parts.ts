import { toCleanLine } from './clean.ts';
import { type Block, toBlock, toStrings } from './schema/json-block.ts';

/** An image, recording or other file in a result. */
export interface McpFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** One part of a result: the text shown to the model, and its file if any. */
export interface ResultPart {
  readonly text: string;
  readonly file?: McpFile;
}

/** The maximum length of a URI, in characters. */
const MAX_URI = 500;

/**
 * Reads one part of a result. A part of an unknown kind is mentioned, not dropped. `nth` counts
 * from 0.
 */
export function parseResultPart(said: unknown, nth: number): ResultPart {
  if (typeof said === 'string') return { text: said };
  const part = Array.isArray(said) ? undefined : toBlock(said);
  if (part === undefined) return { text: said === null ? '' : JSON.stringify(said) };
  const kind = typeof part.type === 'string' ? part.type.toLowerCase() : inferPartKind(part);
  switch (kind) {
    case 'text':
      return { text: getText(part.text ?? part.content ?? part.value) };
    case 'image_url':
      return parseMediaPart('image', part, nth);
    case 'image':
    case 'audio':
      return parseMediaPart(kind, part, nth);
    case 'resource':
      return parseResourcePart(
        toBlock(part.resource) ?? { ...part, uri: part.uri ?? part.resource },
      );
    case 'resource_link':
      return { text: `[Link: ${formatLink(part)}]` };
    case UNNAMED:
      return { text: JSON.stringify(part) };
    default:
      return createUnknownPart(kind, part, nth);
  }
}

/** The kind of a part that cannot be determined. */
const UNNAMED = '';

/** Infers the kind of a part that does not declare it. */
function inferPartKind(part: Block): string {
  if ('text' in part) return 'text';
  if ('resource' in part || 'blob' in part) return 'resource';
  if ('data' in part) return (getPartMimeType(part).split('/')[0] ?? '') || UNNAMED;
  return 'uri' in part ? 'resource_link' : UNNAMED;
}

function getText(said: unknown): string {
  if (typeof said === 'string') return said;
  return said === undefined || said === null ? '' : JSON.stringify(said);
}

function getPartMimeType(part: Block): string {
  const [said = ''] = [part.mimeType, part.mime_type, part.mediaType, part.media_type].flatMap(
    (one) => toStrings(one),
  );
  return said;
}

/** Reads an image or recording, whose bytes may be in a `data:` URL. */
function parseMediaPart(kind: string, part: Block, nth: number): ResultPart {
  const inside = toBlock(part.source) ?? toBlock(part.image_url) ?? {};
  const all = [part.data, part.blob, part.url, part.image_url, inside.data, inside.url];
  const [said = ''] = all.flatMap((one) => toStrings(one));
  const [, inAddress = '', rest = ''] = /^data:([^;,]*)(?:;[^,]*)?,(.*)$/s.exec(said) ?? [];
  const mimeType = toCleanLine(getPartMimeType(part) || getPartMimeType(inside) || inAddress, 100);
  const bytes = decodeBase64(rest === '' ? said : rest);
  const named = `${kind} (${mimeType || 'unknown type'})`;
  if (/^https?:/i.test(said))
    return { text: `[${named}, at ${toCleanLine(said, MAX_URI)}: not shown]` };
  if (bytes === null) return { text: `[${named}: it cannot be read]` };
  return { text: `[${named}: not shown]`, file: toMcpFile(`${kind}-${nth + 1}`, mimeType, bytes) };
}

function parseResourcePart(said: Block): ResultPart {
  const uri = toCleanLine(getText(said.uri), MAX_URI) || 'a resource';
  if (said.text !== undefined && said.text !== null) {
    return { text: `[${uri}]\n${getText(said.text)}` };
  }
  const bytes = decodeBase64(toStrings(said.blob ?? said.data)[0] ?? '');
  if (bytes === null) return { text: `[${uri}: it has no content that can be read]` };
  const name = toCleanLine(uri.split(/[?#]/)[0]?.split('/').at(-1) ?? '', 200) || 'file';
  return { text: `[${uri}: not shown]`, file: toMcpFile(name, getPartMimeType(said), bytes) };
}

function formatLink(part: Block): string {
  const words = [part.title ?? part.name, part.uri ?? part.url, part.description];
  return toCleanLine(words.flatMap((one) => toStrings(one)).join(' '), MAX_URI);
}

/** Describes a part of an unknown kind, and includes its text, values and file. */
function createUnknownPart(kind: string, part: Block, nth: number): ResultPart {
  const named = `[A part of the kind “${toCleanLine(kind, 80)}”: not shown]`;
  const [words = ''] = [part.text, part.description, part.title].flatMap((one) => toStrings(one));
  const said = words === '' ? listNestedValues(part) : words;
  const text = said === '' ? named : `${named}\n${said}`;
  const mimeType = getPartMimeType(part);
  const bytes = decodeBase64(toStrings(part.data ?? part.blob)[0] ?? '');
  if (mimeType === '' || bytes === null) return { text };
  const [name = ''] = [part.name, part.filename].flatMap((one) => toStrings(one));
  const fallback = `${toCleanLine(kind, 80)}-${nth + 1}`;
  return { text, file: toMcpFile(toCleanLine(name, 200) || fallback, mimeType, bytes) };
}

/** Returns the nested parts of a part, one level deep, or its values. */
function listNestedValues({ content, json, value, output, data }: Block): string {
  if (Array.isArray(content)) {
    return content.map((one: unknown) => getText(toBlock(one)?.text ?? one)).join('\n');
  }
  const [found] = [content, json, value, output, toBlock(data)].filter(
    (one) => one !== undefined && one !== null,
  );
  return getText(found);
}

/** Decodes base64 and base64url, with or without line breaks; null for other text. */
function decodeBase64(said: string): Uint8Array | null {
  const plain = said.replace(/\s+/g, '').replaceAll('-', '+').replaceAll('_', '/');
  if (plain === '' || !/^[A-Za-z0-9+/]+={0,2}$/.test(plain)) return null;
  const bytes = Buffer.from(plain, 'base64');
  return bytes.length === 0 ? null : bytes;
}

function toMcpFile(name: string, mimeType: string, bytes: Uint8Array): McpFile {
  const type = toCleanLine(mimeType, 100) || 'application/octet-stream';
  const extension = name.includes('.') ? '' : `.${type.split('/').at(-1)?.split(/[+;]/)[0]}`;
  return { name: `${name}${extension}`, mimeType: type, bytes };
}
