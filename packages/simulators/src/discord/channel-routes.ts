import { z } from 'zod';
import { describeChannel } from './descriptions.ts';
import { readMessage } from './message-form.ts';
import { sendAsBot } from './message-routes.ts';
import { botMay, channelFor } from './permissions.ts';
import { invalidForm, missingPermissions, Refusal } from './refusal.ts';
import { RestCall } from './rest-call.ts';
import type { Routes, Scene } from './route-table.ts';
import { openThread } from './threads.ts';
import type { Json } from './wire.ts';
import { CHANNEL_TYPE } from './world.ts';

const Name = z.string().min(1).max(100);
const ThreadForm = z.looseObject({
  name: Name,
  message: z.record(z.string(), z.unknown()).optional(),
});
const ChannelForm = z.looseObject({
  name: Name.optional(),
  archived: z.boolean().optional(),
  locked: z.boolean().optional(),
});
const DmForm = z.looseObject({ recipient_id: z.string() });

/** Channels, threads and direct messages. */
export const CHANNEL_ROUTES: Routes = {
  'GET /channels/:channel': ({ world }, call) =>
    describeChannel(world, channelFor(world, call.param('channel'))),
  'PATCH /channels/:channel': changeChannel,
  'POST /channels/:channel/threads': startThread,
  'POST /channels/:channel/messages/:message/threads': ({ world }, call) => {
    const parent = channelFor(world, call.param('channel'), 'openThread');
    const from = world.message(parent, call.param('message'));
    if (world.channels.has(from.id))
      throw new Refusal(400, 160004, 'A thread has already been created for this message');
    const { name } = call.read(ThreadForm);
    return describeChannel(world, openThread(world, parent, { name, ownerId: world.bot.id, from }));
  },
  'PUT /channels/:channel/thread-members/@me': ({ world }, call) => {
    channelFor(world, call.param('channel'));
  },
  'DELETE /channels/:channel/thread-members/@me': ({ world }, call) => {
    channelFor(world, call.param('channel'));
  },
  'POST /users/@me/channels': ({ world }, call) => {
    const { recipient_id } = call.read(DmForm);
    if (!world.users.has(recipient_id) || recipient_id === world.bot.id)
      throw invalidForm('recipient_id', 'CHANNEL_RECIPIENT_REQUIRED', 'Invalid Recipient(s)');
    return describeChannel(world, world.dmWith(recipient_id));
  },
};

async function startThread({ world }: Scene, call: RestCall): Promise<Json> {
  const parent = channelFor(world, call.param('channel'));
  const { name, message } = call.read(ThreadForm);
  const isForum = parent.type === CHANNEL_TYPE.forum;
  if (!botMay(world, parent, isForum ? 'send' : 'openThread')) throw missingPermissions();
  if (parent.type === CHANNEL_TYPE.thread || parent.type === CHANNEL_TYPE.dm)
    throw new Refusal(400, 50024, 'Cannot execute action on this channel type');
  if (!isForum)
    return describeChannel(world, openThread(world, parent, { name, ownerId: world.bot.id }));
  if (message === undefined)
    throw invalidForm('message', 'BASE_TYPE_REQUIRED', 'This field is required');
  const first = new RestCall(call.params, call.query, { body: message, files: call.files });
  const form = readMessage(first);
  const post = openThread(world, parent, { name, ownerId: world.bot.id });
  const sent = await sendAsBot(world, post, first, form, post.id);
  return { ...describeChannel(world, post), message: sent };
}

function changeChannel({ world }: Scene, call: RestCall): Json {
  const channel = channelFor(world, call.param('channel'));
  const { name, archived, locked } = call.read(ChannelForm);
  const own = channel.ownerId === world.bot.id && locked === undefined;
  if (!own && !botMay(world, channel, 'manageThreads')) throw missingPermissions();
  channel.name = name ?? channel.name;
  channel.archived = archived ?? channel.archived;
  channel.locked = locked ?? channel.locked;
  const data = describeChannel(world, channel);
  const isThread = channel.type === CHANNEL_TYPE.thread;
  world.emit(isThread ? 'THREAD_UPDATE' : 'CHANNEL_UPDATE', data, channel.guildId);
  return data;
}
