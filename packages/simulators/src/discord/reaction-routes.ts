import { botMay, channelFor } from './permissions.ts';
import { react, reactors, readEmoji } from './reactions.ts';
import { missingPermissions, Refusal } from './refusal.ts';
import type { RestCall } from './rest-call.ts';
import type { Routes, Scene } from './route-table.ts';

/** Emojis below messages. */
export const REACTION_ROUTES: Routes = {
  'PUT /channels/:channel/messages/:message/reactions/:emoji/@me': (scene, call) =>
    change(scene, call, false),
  'DELETE /channels/:channel/messages/:message/reactions/:emoji/@me': (scene, call) =>
    change(scene, call, true),
  'DELETE /channels/:channel/messages/:message/reactions/:emoji/:user': (scene, call) => {
    const channel = channelFor(scene.world, call.param('channel'));
    if (!botMay(scene.world, channel, 'manageMessages')) throw missingPermissions();
    change(scene, call, true, call.param('user'));
  },
  'GET /channels/:channel/messages/:message/reactions/:emoji': ({ world }, call) => {
    const channel = channelFor(world, call.param('channel'));
    const { id } = world.message(channel, call.param('message'));
    return [...reactors(world, id, emojiOf(call))].map((user) => world.user(user));
  },
};

function change({ world }: Scene, call: RestCall, gone: boolean, userId = world.bot.id): void {
  const channel = channelFor(world, call.param('channel'), gone ? 'view' : 'react');
  const message = world.message(channel, call.param('message'));
  const emoji = emojiOf(call);
  if (channel.archived) throw new Refusal(400, 50083, 'Thread is archived');
  react(world, channel, message, { userId, emoji, gone });
}

function emojiOf(call: RestCall): NonNullable<ReturnType<typeof readEmoji>> {
  const emoji = readEmoji(call.param('emoji'));
  if (emoji === undefined) throw new Refusal(400, 10014, 'Unknown Emoji');
  return emoji;
}
