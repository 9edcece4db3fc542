import type { Interaction } from './interactions.ts';
import type { MessageForm } from './message-form.ts';
import { editOf, readChange, readDraft } from './message-routes.ts';
import { changeMessage, composeMessage, routeOf, storeMessage } from './message-store.ts';
import { noteSent } from './note-sent.ts';
import { unknown } from './refusal.ts';
import type { RestCall } from './rest-call.ts';
import type { MessageRoute } from './transcript.ts';
import type { WireMessage } from './wire.ts';
import type { World } from './world.ts';

/** Flags of messages: seen by one person, and shown as "thinking". */
export const FLAG = { ephemeral: 1 << 6, loading: 1 << 7 } as const;

/** A new message that answers a command or a press. */
export async function respond(
  world: World,
  interaction: Interaction,
  call: RestCall,
  form: MessageForm,
): Promise<WireMessage> {
  const draft = await readDraft(world, interaction.channel, call, form);
  const full = { ...draft, ...originOf(interaction) };
  const ephemeral = ((form.flags ?? 0) & FLAG.ephemeral) !== 0;
  const compose = ephemeral ? composeMessage : storeMessage;
  const stored = compose(world, interaction.channel, full);
  if (ephemeral) interaction.ephemeral.set(stored.message.id, stored.message);
  interaction.originalId ??= stored.message.id;
  noteSent(world, 'message', routeFor(interaction, ephemeral), stored);
  return stored.message;
}

/** The sign that an answer will come. */
export function showThinking(world: World, interaction: Interaction, flags: number): WireMessage {
  const ephemeral = (flags & FLAG.ephemeral) !== 0;
  const compose = ephemeral ? composeMessage : storeMessage;
  const { message } = compose(world, interaction.channel, {
    author: world.bot,
    content: '',
    flags: FLAG.loading | (flags & FLAG.ephemeral),
    ...originOf(interaction),
  });
  if (ephemeral) interaction.ephemeral.set(message.id, message);
  interaction.originalId = message.id;
  return message;
}

/** Changes an answer; the first text in place of "thinking" counts as a message, not as an edit. */
export async function changeAnswer(
  world: World,
  interaction: Interaction,
  message: WireMessage,
  call: RestCall,
  form: MessageForm,
): Promise<WireMessage> {
  const { channel } = interaction;
  const change = await readChange(world, channel, message, call, form);
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
  noteSent(world, kind, routeFor(interaction, ephemeral), editOf(form, changed));
  return changed;
}

/**
 * An answer by id, or the first one as `@original`.
 * @throws Refusal 10008
 */
export function answerOf(interaction: Interaction, id: string): WireMessage {
  const wanted = id === '@original' ? interaction.originalId : id;
  const message =
    interaction.ephemeral.get(wanted ?? '') ?? interaction.channel.messages.get(wanted ?? '');
  if (message === undefined) throw unknown('Message');
  return message;
}

function routeFor(interaction: Interaction, ephemeral: boolean): MessageRoute {
  return {
    ...routeOf(interaction.channel),
    interactionId: interaction.id,
    ...(ephemeral ? { ephemeral: true } : {}),
  };
}

function originOf({ id, type, user }: Interaction): {
  readonly type: number;
  readonly extra: Partial<WireMessage>;
} {
  const interaction_metadata = { id, type, user, authorizing_integration_owners: {} };
  return { type: type === 2 ? 20 : 0, extra: { interaction_metadata } };
}
