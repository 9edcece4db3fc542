import { z } from 'zod';
import type { Interaction } from './interactions.ts';
import { type MessageForm, parseMessageForm } from './message-form.ts';
import { applyEdit, computeMessageChange, createMessageDraft } from './message-routes.ts';
import {
  changeMessage,
  composeMessage,
  getMessageRoute,
  recordSentMessage,
  removeMessage,
  storeMessage,
} from './messages.ts';
import { checkModal } from './modals.ts';
import { createInvalidFormRefusal, createNotFoundRefusal, Refusal, RestCall } from './request.ts';
import type { RouteContext, RouteHandlers } from './scene.ts';
import type { MessageRoute } from './transcript.ts';
import type { Json, WireMessage } from './wire.ts';
import type { World } from './world.ts';

/** The number of follow-ups allowed to an app that is installed only on a user's account. */
const MAX_FOLLOW_UPS = 5;

const Callback = z.looseObject({
  type: z.number(),
  data: z.record(z.string(), z.unknown()).nullish(),
});

/** First and later responses to interactions; the token in the path is the only authentication. */
export const INTERACTION_ROUTES: RouteHandlers = {
  'POST /interactions/:interaction/:token/callback': handleCallback,
  'POST /webhooks/:app/:token': async ({ world, interactions }, call) => {
    const interaction = interactions.byToken(call.param('token'));
    const form = parseMessageForm(call);
    const first = interaction.originalId === undefined ? undefined : findOriginal(interaction);
    // While "thinking" is shown, a follow-up replaces it, as on Discord's servers.
    if (first !== undefined && (first.flags & FLAG.loading) !== 0)
      return editAnswer(world, interaction, first, call, form);
    if (interaction.byUser && interaction.followUps >= MAX_FOLLOW_UPS) {
      const words = 'This interaction has reached its maximum number of follow up messages';
      throw new Refusal(400, 40094, words);
    }
    const message = await respondToInteraction(world, interaction, call, form);
    interaction.followUps += 1;
    return message;
  },
  'GET /webhooks/:app/:token/messages/:message': ({ interactions }, call) =>
    getAnswer(interactions.byToken(call.param('token')), call.param('message')),
  'PATCH /webhooks/:app/:token/messages/:message': ({ world, interactions }, call) => {
    const interaction = interactions.byToken(call.param('token'));
    const message = getAnswer(interaction, call.param('message'));
    return editAnswer(world, interaction, message, call, parseMessageForm(call, message.flags));
  },
  'DELETE /webhooks/:app/:token/messages/:message': ({ world, interactions }, call) => {
    const interaction = interactions.byToken(call.param('token'));
    const { id } = getAnswer(interaction, call.param('message'));
    if (!interaction.ephemeral.delete(id)) removeMessage(world, interaction.channel, id);
  },
};

async function handleCallback(scene: RouteContext, call: RestCall): Promise<Json | undefined> {
  const { type, data } = call.read(Callback);
  const interaction = scene.interactions.waiting(call.param('interaction'), call.param('token'));
  const inner = new RestCall(call.params, call.query, { body: data ?? {}, files: call.files });
  const message = await runCallback(scene, interaction, type, inner);
  interaction.answered = true;
  scene.world.transcript.changes.changed();
  if (call.query.get('with_response') !== 'true') return undefined;
  return {
    interaction: {
      id: interaction.id,
      type: interaction.type,
      ...(message === undefined ? {} : { response_message_id: message.id }),
    },
    ...(message === undefined ? {} : { resource: { type, message } }),
  };
}

/**
 * Runs an interaction callback by its type: 4 message, 5 thinking, 6 and 7 for the message that
 * contains the button, 8 suggestions, 9 form.
 */
async function runCallback(
  { world }: RouteContext,
  interaction: Interaction,
  type: number,
  call: RestCall,
): Promise<WireMessage | undefined> {
  const { source } = interaction;
  if (type === 4) return respondToInteraction(world, interaction, call, parseMessageForm(call));
  if (type === 5) return showThinking(world, interaction, parseMessageForm(call).flags ?? 0);
  if ((type === 6 || type === 7) && source !== undefined) {
    interaction.originalId = source.id;
    if (type === 6) return undefined;
    const now = getAnswer(interaction, source.id);
    return editAnswer(world, interaction, now, call, parseMessageForm(call, now.flags));
  }
  if (type === 9 && interaction.type !== 5) {
    const modal = call.read(z.record(z.string(), z.unknown()));
    checkModal(modal);
    interaction.modal = modal;
    return undefined;
  }
  if (type === 8) return undefined;
  throw createInvalidFormRefusal(
    'type',
    'BASE_TYPE_CHOICES',
    'This interaction does not support the callback type.',
  );
}

/** Message flags: 64 for ephemeral, 128 for the "thinking" placeholder. */
const FLAG = { ephemeral: 1 << 6, loading: 1 << 7 } as const;

async function respondToInteraction(
  world: World,
  interaction: Interaction,
  call: RestCall,
  form: MessageForm,
): Promise<WireMessage> {
  const draft = await createMessageDraft(world, interaction.channel, call, form);
  const full = { ...draft, ...describeOrigin(interaction) };
  const ephemeral = ((form.flags ?? 0) & FLAG.ephemeral) !== 0;
  const compose = ephemeral ? composeMessage : storeMessage;
  const stored = compose(world, interaction.channel, full);
  if (ephemeral) interaction.ephemeral.set(stored.message.id, stored.message);
  interaction.originalId ??= stored.message.id;
  recordSentMessage(world, 'message', buildRoute(interaction, ephemeral), stored);
  return stored.message;
}

function showThinking(world: World, interaction: Interaction, flags: number): WireMessage {
  const ephemeral = (flags & FLAG.ephemeral) !== 0;
  const compose = ephemeral ? composeMessage : storeMessage;
  const { message } = compose(world, interaction.channel, {
    author: world.bot,
    content: '',
    flags: FLAG.loading | (flags & FLAG.ephemeral),
    ...describeOrigin(interaction),
  });
  if (ephemeral) interaction.ephemeral.set(message.id, message);
  interaction.originalId = message.id;
  return message;
}

/** Edits an answer; the first text that replaces "thinking" counts as a message, not as an edit. */
async function editAnswer(
  world: World,
  interaction: Interaction,
  message: WireMessage,
  call: RestCall,
  form: MessageForm,
): Promise<WireMessage> {
  const { channel } = interaction;
  const change = await computeMessageChange(world, channel, message, call, form);
  const ephemeral = interaction.ephemeral.has(message.id);
  const waited = (message.flags & FLAG.loading) !== 0;
  const changed: WireMessage = {
    ...message,
    ...change,
    flags: ((change.flags ?? 0) | (message.flags & FLAG.ephemeral)) & ~FLAG.loading,
    ...(waited ? { edited_timestamp: null } : {}),
  };
  if (ephemeral) interaction.ephemeral.set(message.id, changed);
  else changeMessage(world, channel, message, changed);
  const kind = waited ? 'message' : 'edit';
  recordSentMessage(world, kind, buildRoute(interaction, ephemeral), applyEdit(form, changed));
  return changed;
}

/**
 * Finds an answer by its id; `@original` is the first answer.
 * @throws Refusal with code 10008 (unknown message)
 */
function getAnswer(interaction: Interaction, id: string): WireMessage {
  const wanted = id === '@original' ? interaction.originalId : id;
  const message =
    interaction.ephemeral.get(wanted ?? '') ?? interaction.channel.messages.get(wanted ?? '');
  if (message === undefined) throw createNotFoundRefusal('Message');
  return message;
}

function findOriginal({
  originalId = '',
  ephemeral,
  channel,
}: Interaction): WireMessage | undefined {
  return ephemeral.get(originalId) ?? channel.messages.get(originalId);
}

function buildRoute(interaction: Interaction, ephemeral: boolean): MessageRoute {
  return {
    ...getMessageRoute(interaction.channel),
    interactionId: interaction.id,
    ...(ephemeral ? { ephemeral: true } : {}),
  };
}

function describeOrigin({ id, type, user }: Interaction): {
  readonly type: number;
  readonly extra: Partial<WireMessage>;
} {
  const interaction_metadata = { id, type, user, authorizing_integration_owners: {} };
  return { type: type === 2 ? 20 : 0, extra: { interaction_metadata } };
}
