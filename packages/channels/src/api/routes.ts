import { hash, randomUUID, timingSafeEqual } from 'node:crypto';
import { type InboundMessage, pluralize } from '@parley/core';
import { type Context, Hono } from 'hono';
import type { ChannelContext, IngressOutcome, SecretDoor } from '../adapter.ts';
import { toAttachmentKind } from '../attachments/file-response.ts';
import { parseJson, readBody } from '../bounded-body.ts';
import { parseCommand } from '../commands/typed-command.ts';
import type { EventHub } from '../web/events.ts';
import { findUnmatchedRoute, type UnmatchedRoute } from '../wrong-address.ts';
import type { ApiAccount } from './api-account.ts';
import { type ChatRequest, parseChatRequest } from './chat-request.ts';
import { toIdPart } from './id-part.ts';
import { createRequestSlots, type SlotRefusal } from './request-slots.ts';
import { type AnswerRequest, CLOSING, createResponder } from './respond.ts';
import { type ApiError, createBadRequestError, toErrorResponse, toModelBody } from './wire.ts';

interface ApiDeps {
  readonly context: ChannelContext<ApiAccount>;
  readonly hub: EventHub;
  /** Fires when the gateway stops receiving; ends every request. */
  readonly closing: AbortSignal;
}

interface ApiClient {
  readonly name: string;
  /** The default agent when undefined. */
  readonly agent: string | undefined;
  /** The agent's name as a model. */
  readonly model: string;
  readonly owner: boolean;
  readonly conversations: 'one' | 'per-request';
}

interface ApiEnv {
  readonly Bindings: { readonly door?: SecretDoor | undefined };
  readonly Variables: { client: ApiClient };
}

/** The routes below `/v1` that OpenAI's client libraries use. */
export function createApiRoutes(deps: ApiDeps): Hono<ApiEnv> {
  const { context, closing } = deps;
  const app = new Hono<ApiEnv>().basePath('/v1');
  const respond = createResponder(deps);
  const slots = createRequestSlots(Object.keys(context.settings.clients).length);
  const since = Math.floor(context.clock() / 1_000);
  app.use(async (c, next) => {
    const wrong = findUnmatchedRoute(app, c.req);
    if (wrong !== null) return toErrorResponse(createUnmatchedRouteError(wrong));
    const given = parseBearer(c.req.header('authorization'));
    if (given === undefined) return toErrorResponse(NO_CLIENT);
    const client = findClient(context.settings, given);
    if (client === null) return refuseWrongToken(c.env.door);
    c.set('client', client);
    return next();
  });
  app.get('/models', (c) =>
    c.json({ object: 'list', data: [toModelBody(c.get('client').model, since)] }),
  );
  app.get('/models/:model', (c) => {
    const asked = c.req.param().model;
    const { model } = c.get('client');
    return asked === model
      ? c.json(toModelBody(model, since))
      : toErrorResponse(createUnknownModelError(asked, model));
  });
  app.post('/chat/completions', async (c) => {
    if (closing.aborted) return toErrorResponse(CLOSING);
    // The slot is taken before the body is read, because many large bodies at once would fill the
    // memory.
    const release = slots.take(c.get('client'));
    if (typeof release !== 'function') return toErrorResponse(createSlotError(release));
    let isAnswered = false;
    try {
      const order = await acceptChatRequest(deps, c, c.get('client'));
      if ('status' in order) return toErrorResponse(order);
      isAnswered = true;
      return await respond(order, c.req.raw.signal, release);
    } finally {
      if (!isAnswered) release();
    }
  });
  app.onError((error, c) => {
    context.log.error({ path: c.req.path, error }, 'an API request failed');
    return toErrorResponse(FAILED);
  });
  return app;
}

const NO_CLIENT: ApiError = {
  status: 401,
  code: 'invalid_api_key',
  message:
    'Send a client’s token (api.clients in the settings) as "Authorization: Bearer …". OpenAI’s libraries call it the API key.',
};

function createUnmatchedRouteError({ status, message, allow }: UnmatchedRoute): ApiError {
  const there =
    'The API supports POST /v1/chat/completions, GET /v1/models and GET /v1/models/MODEL.';
  const code = status === 405 ? 'method_not_allowed' : 'not_found';
  return { status, code, message: `${message} ${there}`, allow };
}

/**
 * A caller with a wrong token waits for the wrong attempts before it; a caller with a correct one
 * never waits.
 */
function refuseWrongToken(door: SecretDoor | undefined): Response {
  const retryAfterSeconds = door?.refuseWrong() ?? 0;
  if (retryAfterSeconds === 0) return toErrorResponse(NO_CLIENT);
  const message = `Too many wrong tokens. Try again in ${pluralize(retryAfterSeconds, 'second')}.`;
  return toErrorResponse({
    status: 429,
    code: 'too_many_wrong_tokens',
    message,
    retryAfterSeconds,
  });
}

const FAILED: ApiError = {
  status: 503,
  code: 'unavailable',
  message:
    'Parley could not do that just now. Repeat the same request with the same Idempotency-Key; nothing runs twice.',
  retryAfterSeconds: 5,
};

function createSlotError(why: SlotRefusal): ApiError {
  const who =
    why.kind === 'client'
      ? `${pluralize(why.slots, 'request')} from this client ${why.slots === 1 ? 'is' : 'are'} already waiting for an answer, which is the client’s full share.`
      : 'The maximum number of requests waiting for an answer has been reached.';
  const message = `${who} Nothing was stored; send it again later.`;
  return { status: 429, code: 'rate_limit_exceeded', message, retryAfterSeconds: 10 };
}

function createUnknownModelError(asked: string, agent: string): ApiError {
  const message = `There is no model ${JSON.stringify(asked)} for this client; the agent is ${JSON.stringify(agent)}.`;
  return { status: 404, code: 'model_not_found', message };
}

function parseBearer(header: string | undefined): string | undefined {
  return /^Bearer +(.+)$/i.exec(header ?? '')?.[1];
}

/** Compares all tokens, each in constant time. */
function findClient({ agent: main, clients }: ApiAccount, token: string): ApiClient | null {
  const given = hashText(token);
  const found = Object.entries(clients).filter(([, own]) =>
    timingSafeEqual(hashText(own.token), given),
  );
  const [one] = found;
  if (one === undefined) return null;
  const [name, { agent, owner, conversations }] = one;
  const other = agent === main ? undefined : agent;
  return { name, agent: other, model: other ?? main, owner, conversations };
}

function hashText(text: string): Buffer {
  return Buffer.from(hash('sha256', text, 'hex'), 'hex');
}

/** The maximum size of a request without its files, in bytes. */
const LARGEST_TEXT = 4_000_000;

/**
 * Reads a request and passes it to ingress. Resolves when the request is stored, or with the reason
 * why it is refused.
 */
async function acceptChatRequest(
  deps: ApiDeps,
  c: Context,
  client: ApiClient,
): Promise<AnswerRequest | ApiError> {
  const { context } = deps;
  const { model } = client;
  const fileBytes = context.chats?.media.messageBytes ?? 0;
  const body = await readBody(c.req.raw, LARGEST_TEXT + Math.ceil((fileBytes * 4) / 3));
  if (body.kind === 'too-large')
    return createTooLargeError('The request exceeds the maximum size.');
  if (body.kind === 'not-utf8')
    return createBadRequestError('The request is not valid UTF-8.', 'invalid_request');
  const request = parseChatRequest(parseJson(body.text), client.conversations);
  if ('status' in request) return request;
  if (request.model !== undefined && request.model !== model)
    return createUnknownModelError(request.model, model);
  const place = resolveRequestChat(client, request, c);
  if ('status' in place) return place;
  const refusal = await findFileRefusal(
    context,
    request.files,
    client.owner ? null : place.senderId,
  );
  if (refusal !== null) return refusal;
  const { chatId, messageId } = place;
  const at = context.clock();
  const message = toInboundMessage(client, request, { ...place, account: context.account, at });
  const bytes = await Promise.all(request.files.map((file) => file.bytes()));
  const outcome = await context.receive(message, undefined, bytes);
  const refused = toRefusalError(outcome);
  if (refused !== null) return refused;
  const command =
    outcome.kind === 'command' ? outcome.name : parseCommand(request.text)?.command.name;
  const about = { id: `chatcmpl-${messageId}`, model, created: Math.floor(at / 1_000) };
  return { about, place: { chatId, messageId }, at, command, stream: request.stream };
}

const KEY = /^[\x21-\x7e]{1,200}$/;

interface RequestChat {
  readonly chatId: string;
  readonly messageId: string;
  readonly senderId: string;
  readonly separate: boolean;
}

/**
 * Decides which conversation a request belongs to and who speaks there. A guest client's `user`
 * values are separate people with separate memories; an owner client's `user` values are only
 * separate conversations.
 */
function resolveRequestChat(
  client: ApiClient,
  { user }: ChatRequest,
  c: Context,
): RequestChat | ApiError {
  const key = c.req.header('idempotency-key');
  if (key !== undefined && !KEY.test(key)) {
    return createBadRequestError(
      'An Idempotency-Key must have 1 to 200 visible ASCII characters.',
      'invalid_key',
    );
  }
  const messageId = key ?? randomUUID();
  const named = c.req.header('x-parley-conversation') || undefined;
  const person = user === undefined ? client.name : `${client.name}/${toIdPart(user)}`;
  const own =
    client.conversations === 'per-request'
      ? `~${toIdPart(messageId)}`
      : named === undefined
        ? undefined
        : `#${toIdPart(named)}`;
  return {
    // The prefix names an agent other than the default one, as in web chats.
    chatId: `${client.agent === undefined ? '' : `@${client.agent}/`}${person}${own ?? ''}`,
    messageId,
    senderId: client.owner ? client.name : person,
    separate: own !== undefined || user !== undefined,
  };
}

function toInboundMessage(
  client: ApiClient,
  { text, files, user, client: sentAlong, responseFormat }: ChatRequest,
  {
    chatId,
    messageId,
    senderId,
    separate,
    account,
    at,
  }: RequestChat & { account: string; at: number },
): InboundMessage {
  const attachments = files.map((file, index) => ({
    kind: toAttachmentKind(file),
    name: file.name,
    size: file.size,
    ...(file.type !== '' && { mimeType: file.type }),
    ref: `${messageId}/${index}`,
  }));
  return {
    channel: 'api',
    account,
    messageId,
    chat: { id: chatId, type: 'direct', ...(separate && { separate: true }) },
    sender: { id: senderId, name: user ?? client.name, isBot: false },
    text,
    authored: { text: true },
    ...(attachments.length > 0 && { attachments }),
    ...(Object.keys(sentAlong).length > 0 && { client: sentAlong }),
    ...(responseFormat !== undefined && { responseFormat }),
    mentions: [],
    addressed: true,
    sentAt: at,
    variables: {},
  };
}

/** Limits of one message. */
const MAX_FILES = 32;

async function findFileRefusal(
  { chats }: ChannelContext<ApiAccount>,
  files: readonly File[],
  person: string | null,
): Promise<ApiError | null> {
  if (files.length === 0) return null;
  if (chats === undefined)
    return createBadRequestError('Files cannot be sent here.', 'files_unsupported');
  const { fileBytes, messageBytes } = chats.media;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const empty = files.find((file) => file.size === 0);
  if (empty !== undefined)
    return createBadRequestError(`${empty.name} is empty.`, 'invalid_request');
  if (files.length > MAX_FILES)
    return createTooLargeError(`One message may have ${MAX_FILES} files.`);
  if (size > messageBytes || files.some((file) => file.size > fileBytes)) {
    return createTooLargeError(
      `One file may have up to ${fileBytes} bytes, and all files of one message up to ${messageBytes} (media in the settings).`,
    );
  }
  if (await chats.hasRoom(size, person)) return null;
  return createOverloadedError('There is no room for more files at the moment.', 60);
}

function createTooLargeError(message: string): ApiError {
  return { status: 413, code: 'request_too_large', message };
}

function createOverloadedError(message: string, retryAfterSeconds: number): ApiError {
  return { status: 429, code: 'rate_limit_exceeded', message, retryAfterSeconds };
}

/**
 * A conversation accepts messages again once its next turn has started; a person's limit and the
 * total limit take longer.
 */
const RETRY_AFTER_SECONDS = { conversation: 10, person: 30, all: 30 } as const;

/** Null when the message is stored, whether by this request or an earlier one. */
function toRefusalError(outcome: IngressOutcome): ApiError | null {
  switch (outcome.kind) {
    case 'accepted':
    case 'command':
    case 'duplicate':
      return null;
    case 'ignored':
      return createOverloadedError(`The message was not accepted: ${outcome.reason}.`, 60);
    case 'refused': {
      const { bound, reason } = outcome;
      if (bound === 'size') return createTooLargeError(`The message is ${reason}.`);
      if (bound !== undefined)
        return createOverloadedError(`Not accepted: ${reason}.`, RETRY_AFTER_SECONDS[bound]);
      return { status: 401, code: 'access_denied', message: `Not accepted: ${reason}.` };
    }
  }
}
