import { COMPONENTS_V2, getVisibleText } from './components.ts';
import { receiveFiles, refreshSignatures } from './files.ts';
import { checkNotEmpty, type MessageForm, parseMessageForm } from './message-form.ts';
import {
  changeMessage,
  getMessageRoute,
  type MessageDraft,
  recordSentMessage,
  removeMessage,
  type StoreMessageResult,
  storeMessage,
} from './messages.ts';
import { hasBotPermission, hideContent, INTENT, requireChannel } from './permissions.ts';
import { findPings } from './pings.ts';
import {
  createInvalidFormRefusal,
  createMissingAccessRefusal,
  createMissingPermissionsRefusal,
  Refusal,
  type RestCall,
} from './request.ts';
import type { RouteContext, RouteHandlers } from './scene.ts';
import type { WireMessage } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type World } from './world.ts';

/** How long a nonce is remembered; the documentation says "the past few minutes". */
const NONCE_MS = 5 * 60_000;

/** Routes that create, edit, delete and read messages. */
export const MESSAGE_ROUTES: RouteHandlers = {
  'POST /channels/:channel/messages': createMessage,
  'GET /channels/:channel/messages': listMessages,
  'GET /channels/:channel/messages/:message': (scene, call) => {
    const channel = requireChannel(scene.world, call.param('channel'));
    if (!hasBotPermission(scene.world, channel, 'history')) throw createMissingAccessRefusal();
    return toRestMessage(scene, channel, scene.world.message(channel, call.param('message')));
  },
  'PATCH /channels/:channel/messages/:message': async ({ world }, call) => {
    const channel = requireChannel(world, call.param('channel'));
    const message = world.message(channel, call.param('message'));
    if (message.author.id !== world.bot.id)
      throw new Refusal(403, 50005, 'Cannot edit a message authored by another user');
    if (channel.archived) throw new Refusal(400, 50083, 'Thread is archived');
    return editMessage(world, channel, message, call);
  },
  'DELETE /channels/:channel/messages/:message': ({ world }, call) => {
    const channel = requireChannel(world, call.param('channel'));
    const { id, author } = world.message(channel, call.param('message'));
    if (author.id !== world.bot.id) {
      if (channel.type === CHANNEL_TYPE.dm)
        throw new Refusal(403, 50003, 'Cannot execute action on a DM channel');
      if (!hasBotPermission(world, channel, 'manageMessages'))
        throw createMissingPermissionsRefusal();
    }
    removeMessage(world, channel, id);
  },
  'POST /channels/:channel/typing': ({ world }, call) => {
    requireWritableChannel(world, call.param('channel'));
  },
};

/** Stores the message from a call, with the bot as its author. */
export async function sendAsBot(
  world: World,
  channel: Channel,
  call: RestCall,
  form: MessageForm,
  id?: string,
): Promise<WireMessage> {
  const draft = await createMessageDraft(world, channel, call, form);
  const stored = storeMessage(world, channel, { ...draft, ...(id === undefined ? {} : { id }) });
  recordSentMessage(world, 'message', getMessageRoute(channel), stored);
  return stored.message;
}

/** Returns the bot's message from a call and stores its files. */
export async function createMessageDraft(
  world: World,
  channel: Channel,
  call: RestCall,
  form: MessageForm,
): Promise<MessageDraft> {
  const replyTo = findAnsweredMessage(channel, form);
  const attachments = await receiveFiles(world, channel, call, form);
  const content = (form.content ?? '').trim();
  const parts = {
    content,
    embeds: form.embeds ?? [],
    components: form.components ?? [],
    attachments,
  };
  checkNotEmpty(parts);
  return {
    ...parts,
    author: world.bot,
    flags: form.flags ?? 0,
    nonce: form.nonce ?? undefined,
    replyTo,
    allowedMentions: form.allowed_mentions ?? undefined,
  };
}

/** Edits one of the bot's messages; fields absent from the call keep their values. */
async function editMessage(
  world: World,
  channel: Channel,
  message: WireMessage,
  call: RestCall,
): Promise<WireMessage> {
  const form = parseMessageForm(call, message.flags);
  const change = await computeMessageChange(world, channel, message, call, form);
  const changed = changeMessage(world, channel, message, change);
  recordSentMessage(world, 'edit', getMessageRoute(channel), applyEdit(form, changed));
  return changed;
}

/**
 * Returns the fields that a call changes, validated together with the unchanged fields of the
 * message.
 */
export async function computeMessageChange(
  world: World,
  channel: Channel,
  message: WireMessage,
  call: RestCall,
  form: MessageForm,
): Promise<Partial<WireMessage>> {
  const added = await receiveFiles(world, channel, call, form);
  const kept = form.attachments
    ? message.attachments.filter(({ id }) => form.attachments?.some((named) => named.id === id))
    : message.attachments;
  const content = form.content === undefined ? message.content : (form.content ?? '').trim();
  const change = {
    content,
    embeds: form.embeds === undefined ? message.embeds : (form.embeds ?? []),
    components: form.components === undefined ? message.components : (form.components ?? []),
    attachments: [...kept, ...added],
  };
  checkNotEmpty(change);
  const v2 = (message.flags | (form.flags ?? 0)) & COMPONENTS_V2;
  // Converting a text message to components requires that content and embeds are explicitly
  // removed.
  if (v2 !== 0 && (content !== '' || change.embeds.length > 0))
    throw createInvalidFormRefusal(
      'content',
      'MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2',
      "The 'content' field cannot be used when using MessageFlags.IS_COMPONENTS_V2",
    );
  return {
    ...change,
    flags: (form.flags ?? message.flags) | v2,
    edited_timestamp: new Date(world.clock()).toISOString(),
  };
}

/**
 * An edit and the users whom its text would notify; Discord does not notify anyone of an edit, but
 * highlights the name.
 */
export function applyEdit(form: MessageForm, message: WireMessage): StoreMessageResult {
  const pings = findPings(getVisibleText(message), form.allowed_mentions ?? undefined, false);
  return { message, pings: { ...pings, repliedUser: false } };
}

/** Returns a channel that the bot may write to. */
function requireWritableChannel(world: World, id: string): Channel {
  const known = world.channel(id);
  const isThread = known.type === CHANNEL_TYPE.thread;
  const channel = requireChannel(world, id, isThread ? 'sendInThread' : 'send');
  if (channel.type === CHANNEL_TYPE.forum || channel.type === CHANNEL_TYPE.category)
    throw new Refusal(400, 50008, 'Cannot send messages in a non-text channel');
  if (channel.locked) throw new Refusal(400, 160005, 'Thread is locked');
  if (channel.recipient !== undefined && world.closedToDms.has(channel.recipient.id))
    throw new Refusal(403, 50007, 'Cannot send messages to this user');
  return channel;
}

async function createMessage({ world }: RouteContext, call: RestCall): Promise<WireMessage> {
  const channel = requireWritableChannel(world, call.param('channel'));
  const form = parseMessageForm(call);
  const known = form.enforce_nonce === true ? world.nonces.find(form.nonce, NONCE_MS) : undefined;
  if (known !== undefined) return known;
  const message = await sendAsBot(world, channel, call, form);
  world.nonces.remember(form.nonce, message);
  return message;
}

function findAnsweredMessage(channel: Channel, form: MessageForm): WireMessage | undefined {
  const reference = form.message_reference;
  if (!reference) return undefined;
  const message = channel.messages.get(reference.message_id);
  if (message !== undefined || reference.fail_if_not_exists === false) return message;
  throw createInvalidFormRefusal(
    'message_reference',
    'MESSAGE_REFERENCE_UNKNOWN_MESSAGE',
    'Unknown message',
  );
}

function listMessages(scene: RouteContext, call: RestCall): readonly unknown[] {
  const channel = requireChannel(scene.world, call.param('channel'));
  if (!hasBotPermission(scene.world, channel, 'history')) return [];
  const limit = Number(call.query.get('limit') ?? 50);
  if (!(limit >= 1 && limit <= 100))
    throw createInvalidFormRefusal(
      'limit',
      'NUMBER_TYPE_RANGE',
      'int value should be between 1 and 100.',
    );
  const [before, after, around] = ['before', 'after', 'around'].map((name) => {
    const id = call.query.get(name);
    return id === null ? undefined : BigInt(id);
  });
  const all = [...channel.messages.values()];
  const found = all.filter(({ id }) => {
    const place = BigInt(id);
    return (before === undefined || place < before) && (after === undefined || place > after);
  });
  const near = found.findIndex(({ id }) => around !== undefined && BigInt(id) >= around);
  const half = Math.floor(limit / 2);
  const start = around === undefined ? found.length - limit : near - half;
  const from = after === undefined ? Math.max(0, start) : 0;
  return found
    .slice(from, from + limit)
    .reverse()
    .map((message) => toRestMessage(scene, channel, message));
}

/**
 * A message as REST returns it; its content is empty for an app that lacks the message content
 * intent.
 */
function toRestMessage(
  { gateway, world }: RouteContext,
  channel: Channel,
  message: WireMessage,
): unknown {
  const hidden = (gateway.portalIntents & INTENT.content) === 0 && channel.guildId !== undefined;
  const signed = refreshSignatures(world, message);
  return hidden ? hideContent({ ...signed }, world.bot.id) : signed;
}
