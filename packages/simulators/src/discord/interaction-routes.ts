import { z } from 'zod';
import { answerOf, changeAnswer, FLAG, respond, showThinking } from './interaction-messages.ts';
import type { Interaction } from './interactions.ts';
import { readMessage } from './message-form.ts';
import { removeMessage } from './message-store.ts';
import { invalidForm } from './refusal.ts';
import { RestCall } from './rest-call.ts';
import type { Routes, Scene } from './route-table.ts';
import type { Json, WireMessage } from './wire.ts';

const Callback = z.looseObject({
  type: z.number(),
  data: z.record(z.string(), z.unknown()).nullish(),
});

/** First and later answers to commands and presses; the token in the path is all they need. */
export const INTERACTION_ROUTES: Routes = {
  'POST /interactions/:interaction/:token/callback': answerFirst,
  'POST /webhooks/:app/:token': async ({ world, interactions }, call) => {
    const interaction = interactions.byToken(call.param('token'));
    const form = readMessage(call);
    const first = interaction.originalId === undefined ? undefined : findOriginal(interaction);
    // While "thinking" is shown, a follow-up takes its place, as on the servers.
    return first !== undefined && (first.flags & FLAG.loading) !== 0
      ? changeAnswer(world, interaction, first, call, form)
      : respond(world, interaction, call, form);
  },
  'GET /webhooks/:app/:token/messages/:message': ({ interactions }, call) =>
    answerOf(interactions.byToken(call.param('token')), call.param('message')),
  'PATCH /webhooks/:app/:token/messages/:message': ({ world, interactions }, call) => {
    const interaction = interactions.byToken(call.param('token'));
    const message = answerOf(interaction, call.param('message'));
    return changeAnswer(world, interaction, message, call, readMessage(call));
  },
  'DELETE /webhooks/:app/:token/messages/:message': ({ world, interactions }, call) => {
    const interaction = interactions.byToken(call.param('token'));
    const { id } = answerOf(interaction, call.param('message'));
    if (!interaction.ephemeral.delete(id)) removeMessage(world, interaction.channel, id);
  },
};

async function answerFirst(scene: Scene, call: RestCall): Promise<Json | undefined> {
  const { type, data } = call.read(Callback);
  const interaction = scene.interactions.waiting(call.param('interaction'), call.param('token'));
  const inner = new RestCall(call.params, call.query, { body: data ?? {}, files: call.files });
  const message = await run(scene, interaction, type, inner);
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

/** 4 message, 5 thinking, 6 and 7 about the message with the button, 8 suggestions, 9 form. */
async function run(
  { world }: Scene,
  interaction: Interaction,
  type: number,
  call: RestCall,
): Promise<WireMessage | undefined> {
  const { source } = interaction;
  if (type === 4) return respond(world, interaction, call, readMessage(call));
  if (type === 5) return showThinking(world, interaction, readMessage(call).flags ?? 0);
  if ((type === 6 || type === 7) && source !== undefined) {
    interaction.originalId = source.id;
    if (type === 6) return undefined;
    const now = answerOf(interaction, source.id);
    return changeAnswer(world, interaction, now, call, readMessage(call));
  }
  if (type === 8 || type === 9) return undefined;
  throw invalidForm('type', 'BASE_TYPE_CHOICES', 'The type is not one of this interaction.');
}

function findOriginal({
  originalId = '',
  ephemeral,
  channel,
}: Interaction): WireMessage | undefined {
  return ephemeral.get(originalId) ?? channel.messages.get(originalId);
}
