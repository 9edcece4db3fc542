import { type InboundMessage, removeAgentPrefix, toDisplayLine } from '@parley/core';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { ChannelContext } from '../adapter.ts';
import { toAttachmentKind, toFileResponse } from '../attachments/file-response.ts';
import { parseJson, readBody, readWithLimit } from '../bounded-body.ts';
import type { ChatsCapability } from '../shown-chats.ts';
import {
  createEventStream,
  type EventHub,
  toWebHistoryEntry,
  type WebChat,
  type WebFile,
  type WebHistory,
  type WebReceipt,
} from './events.ts';
import { CHAT_ID, ChatId, OWNER_ID } from './front.ts';

interface RouteDeps {
  readonly context: ChannelContext<unknown>;
  readonly hub: EventHub;
  readonly channel: string;
  /** Fires when the gateway stops receiving; ends every open stream. */
  readonly closing: AbortSignal;
}

/**
 * A message from a page. `id` is chosen by the page, so that a retry after a failure is harmless.
 */
const MessageId = z.string().regex(/^[\w-]{8,64}$/, 'must be 8 to 64 letters, digits, "-" or "_"');
const Posted = z.strictObject({
  id: MessageId,
  text: z.string(),
  /** The newest message of the chat, which this message replaces if it is still the newest. */
  replaces: MessageId.optional(),
  /** The message, or part of an answer, that this message quotes: `/rewind` goes back to it. */
  quotes: MessageId.optional(),
});

/**
 * The maximum size of a request in bytes; the length of a message is limited by ingress, whose
 * error is friendlier.
 */
const LARGEST_BODY = 4_000_000;
const HISTORY_ENTRIES = 200;

/** History, sending and live events of one front end, below `/channels/<channel>/<account>`. */
export function createRoutes(deps: RouteDeps): Hono {
  const { context, hub, channel, closing } = deps;
  const app = new Hono().basePath(`/channels/${channel}/${context.account}`);
  app.use(async (c, next) => {
    if (parseRequestedChatId(c) === undefined)
      return c.json({ error: 'There is no such chat.' }, 404);
    return next();
  });
  app.get('/history', async (c) => {
    const entries = await context.history(parseRequestedChatId(c) ?? CHAT_ID, HISTORY_ENTRIES);
    c.header('cache-control', 'no-store');
    const media = context.chats?.media;
    const turns = entries.flatMap((one) => (one.kind === 'replaced' ? [] : (one.turnId ?? [])));
    const calls = await context.chats?.calls([...new Set(turns)]);
    const history: WebHistory = {
      entries: entries.map(toWebHistoryEntry),
      commands: context.commands,
      ...(calls && { calls }),
      ...(media && { limits: { file: media.fileBytes, message: media.messageBytes } }),
    };
    return c.json(history);
  });
  app.get('/chats', async (c) => {
    c.header('cache-control', 'no-store');
    const chats = (await context.chats?.list()) ?? [];
    return c.json(
      chats.map(({ first, ...chat }): WebChat => ({ ...chat, title: getFirstWords(first) })),
    );
  });
  addFileRoutes(app, deps);
  app.post('/messages', async (c) => {
    if (closing.aborted) return c.json({ error: 'Parley is shutting down.' }, 503);
    if (c.req.header('content-type')?.startsWith('multipart/form-data')) {
      const form = await parseMessageForm(context.chats, c.req.raw);
      return 'error' in form
        ? c.json(form, form.status)
        : acceptPostedMessage(c, deps, form.posted, form.files);
    }
    const body = await readBody(c.req.raw, LARGEST_BODY);
    if (body.kind === 'too-large') {
      return c.json({ error: 'That message is larger than 4 MB. Please send less at once.' }, 413);
    }
    if (body.kind === 'not-utf8') return c.json({ error: 'The message is not valid UTF-8.' }, 400);
    const posted = Posted.safeParse(parseJson(body.text));
    if (!posted.success) return c.json({ error: z.prettifyError(posted.error) }, 400);
    return acceptPostedMessage(c, deps, posted.data);
  });
  app.get('/events', (c) => {
    if (closing.aborted) return c.json({ error: 'Parley is shutting down.' }, 503);
    // A HEAD request has no reader for the stream, and no event that would end it.
    if (c.req.method === 'HEAD') return c.body(null);
    // A terminal shows only its chat.
    const onChange = channel === 'web' ? context.chats?.onChange : undefined;
    return createEventStream({
      hub,
      chatId: parseRequestedChatId(c) ?? CHAT_ID,
      closing,
      onChange,
    });
  });
  app.notFound((c) => c.json({ error: `There is no ${c.req.path} here.` }, 404));
  app.onError((error, c) => {
    // The page retries automatically, so no message is lost while the database is unavailable.
    context.log.error({ path: c.req.path, error }, 'web request failed');
    return c.json({ error: 'Parley could not do that just now. Please try again.' }, 503);
  });
  return app;
}

/** The files of people's messages and of sent message parts. */
function addFileRoutes(app: Hono, { context }: RouteDeps): void {
  app.get('/files/:message/:index', async (c) => {
    const { message, index } = c.req.param();
    const place = z.coerce.number().int().min(0).max(MAX_FILES).safeParse(index).data;
    const file =
      place === undefined
        ? null
        : await context.chats?.file(parseRequestedChatId(c) ?? CHAT_ID, message, place);
    if (!file) return c.json({ error: 'That file is no longer kept.' }, 404);
    return toFileResponse(file);
  });
  app.get('/sent/:part', async (c) => {
    const file = await context.chats?.sentFile(
      parseRequestedChatId(c) ?? CHAT_ID,
      c.req.param('part'),
    );
    if (!file) return c.json({ error: 'That file is no longer kept.' }, 404);
    return toFileResponse(file);
  });
}

/** The longest title, in characters. */
const TITLE_LENGTH = 60;

function getFirstWords(text: string): string {
  const line = toDisplayLine(text).replaceAll(/\s+/g, ' ').trim();
  return line.length <= TITLE_LENGTH ? line : `${line.slice(0, TITLE_LENGTH).toWellFormed()}…`;
}

/** The chat named by a request; undefined when the name is invalid. */
function parseRequestedChatId(c: Context): string | undefined {
  return ChatId.default(CHAT_ID).safeParse(c.req.query('chat')).data;
}

async function acceptPostedMessage(
  c: Context,
  deps: RouteDeps,
  posted: z.infer<typeof Posted>,
  files: readonly File[] = [],
) {
  const { id, text } = posted;
  const chatId = parseRequestedChatId(c) ?? CHAT_ID;
  // The time is taken before the message is stored: a quick answer may be published first, and the
  // message must not look newer than its answer.
  const at = deps.context.clock();
  const message = toInboundMessage(deps, chatId, { ...posted, at, files });
  const bytes = await Promise.all(files.map((file) => file.bytes()));
  const outcome = await deps.context.receive(message, undefined, bytes);
  if (outcome.kind === 'accepted' || outcome.kind === 'command') {
    const sent = files.map((file): WebFile => {
      return { kind: toAttachmentKind(file), name: file.name, size: file.size, isKept: true };
    });
    const event = { type: 'inbound', messageId: id, text, at } as const;
    deps.hub.publish(chatId, { ...event, ...(sent.length > 0 && { files: sent }) });
    if (outcome.kind === 'command' && outcome.name === 'rewind') {
      deps.hub.publish(chatId, { type: 'rewound' });
    }
    for (const gone of (outcome.kind === 'accepted' && outcome.replaced) || []) {
      deps.hub.publish(chatId, { type: 'replaced', id: gone });
    }
  }
  const receipt: WebReceipt = { outcome, at };
  return c.json(receipt);
}

function toInboundMessage(
  { context, channel }: RouteDeps,
  chatId: string,
  said: z.infer<typeof Posted> & { readonly at: number; readonly files: readonly File[] },
): InboundMessage {
  const { id, text, at: sentAt, files, replaces, quotes } = said;
  const attachments = files.map((file, index) => ({
    kind: toAttachmentKind(file),
    name: file.name,
    size: file.size,
    ...(file.type !== '' && { mimeType: file.type }),
    ref: `${id}/${index}`,
  }));
  return {
    channel,
    account: context.account,
    messageId: id,
    chat: {
      id: chatId,
      type: 'direct',
      ...(removeAgentPrefix(chatId) !== CHAT_ID && { separate: true }),
    },
    sender: { id: OWNER_ID, name: 'Owner', isBot: false },
    text,
    authored: { text: true },
    ...(attachments.length > 0 && { attachments }),
    // A terminal cannot remove lines that it has printed.
    ...(channel === 'web' && replaces !== undefined && { replaces }),
    ...(quotes !== undefined && { replyTo: { messageId: quotes } }),
    mentions: [],
    addressed: true,
    sentAt,
    variables: {},
  };
}

/** A message with its files, or the reason for refusing it with advice. */
type ParsedForm =
  | { readonly posted: z.infer<typeof Posted>; readonly files: readonly File[] }
  | { readonly error: string; readonly status: 400 | 409 | 413 };

/** Limits of one message. */
const MAX_FILES = 32;
/** The allowance for the names and boundaries of a form, in bytes. */
const FRAME = 100_000;
const MB = 1_024 * 1_024;

/**
 * Reads a message and its files from the fields `message` and `file` of a form; either all of them
 * are accepted or none.
 */
async function parseMessageForm(
  chats: ChatsCapability | undefined,
  request: Request,
): Promise<ParsedForm> {
  if (chats === undefined) return { error: 'Files cannot be sent here.', status: 400 };
  const { fileBytes, messageBytes } = chats.media;
  const all = `The files of one message can have up to ${formatMegabytes(messageBytes)} in total.`;
  const limit = messageBytes + LARGEST_BODY + FRAME;
  const isTooLarge = Number(request.headers.get('content-length') ?? 0) > limit;
  const body = isTooLarge
    ? undefined
    : await readWithLimit(request.body ?? new ReadableStream(), limit);
  if (body === undefined) return { error: all, status: 413 };
  const { headers } = request;
  const form = await new Response(new Uint8Array(body), { headers })
    .formData()
    .catch(() => undefined);
  const posted = Posted.safeParse(parseJson(String(form?.get('message'))));
  if (form === undefined || !posted.success) {
    return { error: 'The message and its files could not be read. Send them again.', status: 400 };
  }
  const files = form.getAll('file').filter((file) => file instanceof File);
  const large = files.find(({ size }) => size > fileBytes);
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (large !== undefined) {
    const error = `"${large.name}" is larger than ${formatMegabytes(fileBytes)}, the limit for one file.`;
    return { error, status: 413 };
  }
  if (size > messageBytes) return { error: all, status: 413 };
  if (files.length > MAX_FILES) {
    return { error: `One message may have ${MAX_FILES} files.`, status: 413 };
  }
  if (!(await chats.hasRoom(size, null))) {
    return {
      error: 'There is no room for more files at the moment. Try again later.',
      status: 409,
    };
  }
  return { posted: posted.data, files };
}

function formatMegabytes(bytes: number): string {
  return `${Math.round((bytes / MB) * 10) / 10} MB`;
}
