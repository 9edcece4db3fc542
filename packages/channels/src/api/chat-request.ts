import { type InboundMessage, ResponseFormat } from '@parley/core';
import { z } from 'zod';
import { parseCommand, splitCommand } from '../commands/typed-command.ts';
import { type ApiError, createBadRequestError } from './wire.ts';

const RequestContentPart = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image_url'), image_url: z.object({ url: z.string() }) }),
  z.object({
    type: z.literal('input_audio'),
    input_audio: z.object({ data: z.string(), format: z.string() }),
  }),
  z.object({
    type: z.literal('file'),
    file: z.object({ filename: z.string().optional(), file_data: z.string() }),
  }),
]);
type RequestContentPart = z.infer<typeof RequestContentPart>;

const Content = z.union([z.string(), z.array(RequestContentPart)]).nullish();

const RequestMessage = z.object({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function']),
  content: Content,
});
type RequestMessage = z.infer<typeof RequestMessage>;

const Format = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text') }),
  z.object({ type: z.literal('json_object') }),
  z.object({
    type: z.literal('json_schema'),
    json_schema: z.object({ schema: z.record(z.string(), z.unknown()) }),
  }),
]);

/**
 * The request fields that Parley reads. The agent's settings determine temperature and similar
 * parameters, so these fields are ignored.
 */
const Body = z.object({
  model: z.string().optional(),
  messages: z.array(RequestMessage).min(1).max(2_000),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().nullish(),
  n: z.number().nullish(),
  tools: z.array(z.unknown()).nullish(),
  functions: z.array(z.unknown()).nullish(),
  response_format: Format.nullish(),
});

export interface ChatRequest {
  readonly model: string | undefined;
  /** The client's end user (OpenAI's `user` field). */
  readonly user: string | undefined;
  readonly stream: false | { readonly usage: boolean };
  /** The user's new messages: all messages since the last answer. */
  readonly text: string;
  readonly files: readonly File[];
  readonly client: NonNullable<InboundMessage['client']>;
  readonly responseFormat: InboundMessage['responseFormat'];
}

/**
 * Parses the body of a request. An unsupported field or value is an error, never a silent
 * substitution.
 */
export function parseChatRequest(
  json: unknown,
  conversations: 'one' | 'per-request',
): ChatRequest | ApiError {
  const parsed = Body.safeParse(json);
  if (!parsed.success)
    return createBadRequestError(z.prettifyError(parsed.error), 'invalid_request');
  const body = parsed.data;
  const refusal = findRefusal(body);
  if (refusal !== null) return refusal;
  const talk = body.messages.filter(({ role }) => role === 'user' || role === 'assistant');
  const since = talk.findLastIndex(({ role }) => role === 'assistant') + 1;
  const news = talk.slice(since);
  if (news.length === 0) {
    return createBadRequestError(
      'The last message must be from the user, because it is the one to answer.',
      'no_message',
    );
  }
  const files: File[] = [];
  for (const part of news.flatMap(({ content }) => (Array.isArray(content) ? content : []))) {
    const file = parseRequestFile(part, files.length + 1);
    if (file !== null && 'status' in file) return file;
    if (file !== null) files.push(file);
  }
  const text = news.map(formatRequestMessage).join('\n\n').trim();
  if (text === '' && files.length === 0)
    return createBadRequestError('The message is empty.', 'no_message');
  const history = conversations === 'one' ? [] : talk.slice(0, since).map(toHistoryMessage);
  return {
    model: body.model,
    user: body.user ?? undefined,
    stream: body.stream === true && { usage: body.stream_options?.include_usage === true },
    text,
    files,
    client: listClientContext(body.messages, text, history),
    responseFormat: toResponseFormat(body),
  };
}

/** If the text follows a command such as `/new`, the history is left out. */
function listClientContext(
  messages: readonly RequestMessage[],
  text: string,
  before: readonly HistoryMessage[],
): ChatRequest['client'] {
  const command = parseCommand(text);
  if (command !== null && splitCommand(command).onward === '') return {};
  const history = command === null ? before : [];
  const rules = messages.filter(({ role }) => role === 'system' || role === 'developer');
  const instructions = rules.map(formatRequestMessage).join('\n\n').trim();
  return {
    ...(history.length > 0 && { history: [...history] }),
    ...(instructions !== '' && { instructions }),
  };
}

function findRefusal(body: z.infer<typeof Body>): ApiError | null {
  const isOfTool = ({ role }: RequestMessage) => role === 'tool' || role === 'function';
  const offered = [...(body.tools ?? []), ...(body.functions ?? [])];
  if (offered.length > 0 || body.messages.some(isOfTool)) {
    const why =
      'A client’s tools are not called, because the agent has its own. Do not send tools.';
    return createBadRequestError(why, 'tools_unsupported');
  }
  if (body.n !== undefined && body.n !== null && body.n !== 1) {
    return createBadRequestError('A message has only one answer here. Omit n.', 'n_unsupported');
  }
  const format = ResponseFormat.optional().safeParse(toResponseFormat(body));
  if (!format.success) {
    const why = `response_format must be ${format.error.issues.map(({ message }) => message).join(', or ')}.`;
    return createBadRequestError(why, 'invalid_response_format');
  }
  return null;
}

function toResponseFormat({
  response_format: format,
}: z.infer<typeof Body>): ResponseFormat | undefined {
  if (format?.type === 'json_schema') return format.json_schema.schema;
  return format?.type === 'json_object' ? 'json' : undefined;
}

type HistoryMessage = NonNullable<ChatRequest['client']['history']>[number];

function toHistoryMessage(message: RequestMessage): HistoryMessage {
  const role = message.role === 'assistant' ? 'assistant' : 'user';
  return { role, text: formatRequestMessage(message) };
}

/** Files in earlier messages are mentioned only by name; files in new messages are attached. */
function formatRequestMessage({ content }: RequestMessage): string {
  if (!Array.isArray(content)) return content ?? '';
  return content.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n');
}

const AUDIO: Readonly<Record<string, string>> = { wav: 'audio/wav', mp3: 'audio/mpeg' };

function parseRequestFile(part: RequestContentPart, nth: number): File | ApiError | null {
  switch (part.type) {
    case 'text':
      return null;
    case 'image_url':
      return parseDataUrl(part.image_url.url, `image-${nth}`);
    case 'file':
      return parseDataUrl(part.file.file_data, part.file.filename ?? `file-${nth}`);
    case 'input_audio': {
      const { data, format } = part.input_audio;
      const type = AUDIO[format] ?? 'application/octet-stream';
      return new File([Buffer.from(data, 'base64')], `audio-${nth}.${format}`, { type });
    }
  }
}

const MAX_TYPE = 100;

/** Parley does not fetch URLs for a client, because a URL could point into the private network. */
function parseDataUrl(url: string, name: string): File | ApiError {
  const start = url.slice(0, MAX_TYPE);
  const [frame = '', type = ''] =
    /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.-]+)*;base64,/i.exec(start) ?? [];
  if (frame !== '')
    return new File([Buffer.from(url.slice(frame.length), 'base64')], name, { type });
  const why = `${name} must be a data: URL in base64 (data:image/png;base64,…), because addresses are not fetched.`;
  return createBadRequestError(why, 'url_unsupported');
}
