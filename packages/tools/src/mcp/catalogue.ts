import { reasonOf } from '@parley/core';
import { z } from 'zod';
import { type CleanSchema, cleanLine, cleanLines, cleanSchema } from './clean.ts';

/** A tool of a server, cleaned: nothing of it can be mistaken for text of Parley. */
export interface McpTool {
  /** As the server calls it; sent back to it and never shown. */
  readonly name: string;
  /** One line; empty where the server says nothing. */
  readonly description: string;
  /** Of its arguments, always an object. */
  readonly schema: CleanSchema;
  /** The server says that it changes nothing. It may lie. */
  readonly readOnly: boolean;
}

/** One argument of a prompt. */
export interface McpPromptArgument {
  readonly name: string;
  readonly required: boolean;
}

/** A prompt of a server, cleaned. */
export interface McpPrompt {
  /** As the server calls it. */
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly McpPromptArgument[];
}

/** Something a server offers that cannot be used, and why. */
interface McpRefused {
  readonly what: string;
  readonly reason: string;
}

/** All that a server offers. */
export interface McpCatalogue {
  readonly tools: readonly McpTool[];
  readonly prompts: readonly McpPrompt[];
  readonly refused: readonly McpRefused[];
}

/** Of a server that is not connected. */
export const NOTHING: McpCatalogue = { tools: [], prompts: [], refused: [] };

/** Tools and prompts of one server that are taken; a model is lost among more. */
const MOST = 128;
const LONGEST_NAME = 200;
/** Of the schemas of all tools of a server together, in characters: making their checks takes the event loop. */
const MAX_SCHEMA_TEXT = 200_000;
/** Of a description, in characters. */
const LONGEST = 1_000;

const Name = z.string().min(1).max(LONGEST_NAME);
const Tool = z.object({
  name: Name,
  description: z.string().catch(''),
  inputSchema: z.unknown().optional(),
  annotations: z.object({ readOnlyHint: z.boolean().catch(false) }).catch({ readOnlyHint: false }),
});
const Prompt = z.object({
  name: Name,
  description: z.string().catch(''),
  arguments: z
    .array(
      z.object({ name: z.string().regex(/^[\w-]{1,64}$/), required: z.boolean().catch(false) }),
    )
    .max(20)
    .default([]),
});

/** What a server has said, one entry at a time: invalid ones are left out and reported. */
export function readCatalogue(
  tools: readonly unknown[],
  prompts: readonly unknown[],
): McpCatalogue {
  const refused: McpRefused[] = [];
  let schemaText = 0;
  const read = <Entry extends { readonly name: string }>(
    said: readonly unknown[],
    kind: string,
    make: (entry: unknown) => Entry,
  ): readonly Entry[] => {
    const found = new Map<string, Entry>();
    for (const entry of said.slice(0, MOST)) {
      try {
        const made = make(entry);
        if (found.has(made.name)) throw new Error('there are two of this name');
        found.set(made.name, made);
      } catch (error) {
        refused.push({ what: `${kind} ${nameOf(entry)}`, reason: refusalReason(error) });
      }
    }
    const more = said.length - MOST;
    if (more > 0) refused.push({ what: `${more} more`, reason: `at most ${MOST} are taken` });
    // In an order of ours: a server that shuffles must not cost the prompt its cache.
    return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  };
  return {
    tools: read(tools, 'tool', (entry) => {
      const tool = toolOf(entry);
      const { length } = JSON.stringify(tool.schema);
      if (schemaText + length > MAX_SCHEMA_TEXT) {
        throw new Error('the descriptions of all arguments of this server are too large together');
      }
      schemaText += length;
      return tool;
    }),
    prompts: read(prompts, 'prompt', promptOf),
    refused,
  };
}

function toolOf(entry: unknown): McpTool {
  const { name, description, inputSchema, annotations } = Tool.parse(entry);
  return {
    name,
    description: cleanLine(description, LONGEST),
    schema: cleanSchema(inputSchema),
    readOnly: annotations.readOnlyHint,
  };
}

function promptOf(entry: unknown): McpPrompt {
  const { name, description, arguments: args } = Prompt.parse(entry);
  return { name, description: cleanLine(description, LONGEST), arguments: args };
}

function nameOf(entry: unknown): string {
  const { name } = z.object({ name: z.string() }).safeParse(entry).data ?? {
    name: 'without a name',
  };
  return cleanLine(name, 80);
}

function refusalReason(error: unknown): string {
  return error instanceof z.ZodError ? 'it is not as the protocol says' : reasonOf(error);
}

const Filled = z.object({
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
});

/** The messages of a filled-in prompt as one text, with their roles where it matters. */
export function promptText(said: unknown): string {
  const { messages } = Filled.parse(said);
  const parts = messages.map(({ role, content }) => {
    const { text } = resultText({ content: [content] });
    return role === 'user' ? text : `(As an example of an answer:) ${text}`;
  });
  return cleanLines(parts.join('\n\n'));
}

/** The result of a call, as text. `failed`: the server says that it did not work. */
export interface McpResult {
  readonly text: string;
  readonly failed: boolean;
  readonly files?: readonly McpFile[];
}

/** A picture, a recording or another file of a result. */
export interface McpFile {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

const Part = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.enum(['image', 'audio']),
    mimeType: z.string().catch(''),
    data: z.base64().catch(''),
  }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({
      uri: z.string(),
      mimeType: z.string().catch(''),
      blob: z.base64(),
    }),
  }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({ uri: z.string(), text: z.string() }),
  }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), name: z.string().catch('') }),
  z.object({ type: z.string() }),
]);
type Part = z.infer<typeof Part>;

const Result = z.object({
  content: z.array(z.unknown()).catch([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().catch(false),
});

/** What a model can be shown of a result; the length is bounded by the caller. */
export function resultText(said: unknown): McpResult {
  const { content, structuredContent, isError } = Result.parse(said);
  const parts = content.map((part) => {
    const read = Part.safeParse(part);
    return read.success ? partText(read.data) : '[A part that cannot be read.]';
  });
  // Well-behaved servers say the same twice, as text and as values.
  if (parts.length === 0 && structuredContent !== undefined) {
    parts.push(JSON.stringify(structuredContent));
  }
  const files = filesIn(content);
  const text = cleanLines(parts.join('\n'));
  return { text, failed: isError, ...(files.length > 0 && { files }) };
}

/** More of one result are left out. */
const MOST_FILES = 10;

function filesIn(content: readonly unknown[]): readonly McpFile[] {
  return content
    .flatMap((one, nth) => {
      const part = Part.safeParse(one).data;
      if (part === undefined) return [];
      if ('data' in part && part.data !== '') {
        return [fileOf(`${part.type}-${nth + 1}`, part.mimeType, part.data)];
      }
      if (!('resource' in part && 'blob' in part.resource)) return [];
      const { uri, mimeType, blob } = part.resource;
      return [fileOf(cleanLine(uri.split('/').at(-1) ?? '', 200) || 'file', mimeType, blob)];
    })
    .slice(0, MOST_FILES);
}

function fileOf(name: string, mimeType: string, base64: string): McpFile {
  const type = cleanLine(mimeType, 100) || 'application/octet-stream';
  const extension = name.includes('.') ? '' : `.${type.split('/').at(-1)?.split(/[+;]/)[0]}`;
  return { name: `${name}${extension}`, mimeType: type, bytes: Buffer.from(base64, 'base64') };
}

function partText(part: Part): string {
  if ('text' in part) return part.text;
  if ('resource' in part) {
    const { resource } = part;
    const uri = cleanLine(resource.uri, 500);
    return 'text' in resource ? `[${uri}]\n${resource.text}` : `[${uri}: not shown]`;
  }
  if ('uri' in part) return `[Link: ${cleanLine(`${part.name} ${part.uri}`, 500)}]`;
  if ('mimeType' in part) return `[${part.type} (${cleanLine(part.mimeType, 80)}): not shown]`;
  return `[${cleanLine(part.type, 80)}: not shown]`;
}
