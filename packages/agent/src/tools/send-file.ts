import { basename, extname } from 'node:path';
import { type OutboundFile, type ReplyRoute, stripNoncharacters } from '@parley/core';
import type { AgentFile, AgentFileRepository } from '@parley/store';
import { z } from 'zod';
import { type PostDeps, postMessage } from '../post-message.ts';
import { explainMissingFile, toWorkspacePath } from './read-files.ts';
import {
  createFailedOutcome,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from './tool.ts';

export interface SendFileDeps extends Omit<PostDeps, 'clock'> {
  readonly agentFiles: Pick<AgentFileRepository, 'ofConversation'>;
}

const MAX_PER_TURN = 10;
const CAPTION_CHARACTERS = 4_000;

export const FILE_HINT =
  'Path inside the workspace, or the id of a file that a tool has given you.';

/**
 * Sends a file to the chat being answered, natively on each platform (F10): a workspace file that
 * the reader may see, or one that a tool created in this conversation (W09). The bytes are stored
 * with the part, so a crash neither loses the file nor sends it twice.
 */
export function createSendFileTool(deps: SendFileDeps): Tool {
  return defineTool({
    name: 'send_file',
    summary: 'Sends a file to this chat.',
    hint: 'For pictures, documents and recordings. It arrives immediately, before your answer.',
    tier: 'middleware',
    group: 'messages',
    effect: 'external',
    actsOnce: true,
    audience: 'everyone',
    approval: 'never',
    input: z.strictObject({
      file: z.string().min(1).max(500).describe(FILE_HINT),
      caption: z.string().max(CAPTION_CHARACTERS).optional().describe('In Markdown.'),
      as: z.enum(['document', 'voice']).optional().describe('Default: by its type.'),
    }),
    async run({ file: name, caption = '', as }, call): Promise<ToolOutcome> {
      const { route } = call;
      if (route === undefined) return createFailedOutcome('Not sent: no chat is answered here.');
      const file = await openOutgoingFile(deps, call, { name, as }, route);
      if ('reason' in file) return createFailedOutcome(`Not sent. ${file.reason}`);
      const posted = await postMessage(
        { ...deps, clock: call.clock },
        {
          key: call.callId,
          turn: { id: call.turnId, most: MAX_PER_TURN },
          ...{ route, markdown: stripNoncharacters(caption), isMarked: false, file },
        },
      );
      if (!('chat' in posted)) return createFailedOutcome(REFUSED[posted.kind]);
      const { bytes, kind } = file;
      call.log.info({ turn: call.turnId, kind, size: bytes.byteLength }, 'file posted');
      return { text: `${file.name} is on its way to this chat, as ${kind}.` };
    },
  });
}

const REFUSED = {
  nothing: 'Not sent: there is nothing to send.',
  over: 'Not sent: this turn was stopped, or its conversation started again.',
  'too-many': `Not sent: one turn sends ${MAX_PER_TURN} files at most.`,
  'taken-over': 'Not sent: a person has taken over this chat. Do not try again.',
} as const;

/**
 * Opens a file to send with the permissions of the turn's reader. Returns the reason, for the
 * model, if the file cannot be sent.
 */
export async function openOutgoingFile(
  { agentFiles }: Pick<SendFileDeps, 'agentFiles'>,
  { view, facts, reader }: Pick<ToolCall, 'view' | 'facts' | 'reader'>,
  { name, as }: { readonly name: string; readonly as?: 'document' | 'voice' | undefined },
  { maxFileBytes, channel }: ReplyRoute,
): Promise<AgentFile | { readonly reason: string }> {
  if (maxFileBytes === undefined) return { reason: `Files cannot be sent on ${channel}.` };
  const given = await agentFiles.ofConversation(name, reader.conversationId);
  const path = toWorkspacePath(name, facts.workspace);
  const file = given ?? (await view.readBytes(path, maxFileBytes));
  if ('reason' in file) {
    if (file.reason !== 'too-large') return { reason: explainMissingFile(path, file) };
    return { reason: describeTooLarge(basename(path), maxFileBytes) };
  }
  const { bytes } = file;
  if (bytes.byteLength > maxFileBytes) return { reason: describeTooLarge(name, maxFileBytes) };
  if (given !== null) return { ...given, kind: getOutboundFileKind(given.mimeType, as) };
  const mimeType = getMimeType(path);
  return { name: basename(path), mimeType, kind: getOutboundFileKind(mimeType, as), bytes };
}

function describeTooLarge(name: string, limit: number): string {
  const megabytes = Math.floor(limit / 1_024 / 1_024);
  return `${name} is larger than ${megabytes} MB, the most that can be sent here. Send a link or a smaller file.`;
}

const TYPES: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.mp4': 'video/mp4',
  '.mp3': 'audio/mpeg',
  '.m4a': 'audio/mp4',
  '.wav': 'audio/wav',
  '.ogg': 'audio/ogg',
  '.oga': 'audio/ogg',
  '.opus': 'audio/ogg',
  '.pdf': 'application/pdf',
  '.csv': 'text/csv',
  '.html': 'text/html',
  '.json': 'application/json',
  '.md': 'text/markdown',
  '.txt': 'text/plain',
  '.zip': 'application/zip',
  '.docx': 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.pptx': 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
};

function getMimeType(path: string): string {
  return TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
}

/** The types that platforms display natively; all other files are sent as documents. */
const SHOWN: readonly (readonly [RegExp, OutboundFile['kind']])[] = [
  [/^image\/(png|jpeg|gif|webp)$/, 'image'],
  [/^video\/mp4$/, 'video'],
  [/^audio\//, 'audio'],
];

export function getOutboundFileKind(
  mimeType: string,
  as?: 'document' | 'voice',
): OutboundFile['kind'] {
  if (as === 'document') return 'document';
  const kind = SHOWN.find(([type]) => type.test(mimeType))?.[1] ?? 'document';
  return as === 'voice' && kind === 'audio' ? 'voice' : kind;
}

/** Formats for the model the list of files that tools have created. */
export function describeCreatedFiles(
  files: readonly (Pick<AgentFile, 'name' | 'mimeType' | 'bytes'> & { readonly id: string })[],
): string {
  return files
    .map(({ id, name, mimeType, bytes }) => {
      const size = Math.ceil(bytes.byteLength / 1_024);
      return `[A file was made: ${name} (${mimeType}, ${size} kB). send_file sends it as "${id}".]`;
    })
    .join('\n');
}
