import { describeChannel } from './descriptions.ts';
import { changeMessage, storeMessage } from './message-store.ts';
import type { WireMessage } from './wire.ts';
import { CHANNEL_TYPE, type Channel, type World } from './world.ts';

/** What a thread begins with. */
export interface NewThread {
  readonly name: string;
  readonly ownerId: string;
  /** The message it hangs on; the thread gets its id. */
  readonly from?: WireMessage | undefined;
}

/** HAS_THREAD */
const HAS_THREAD = 1 << 5;

/** Opens a thread below a text channel or a post in a forum, and tells the gateway. */
export function openThread(
  world: World,
  parent: Channel,
  { name, ownerId, from }: NewThread,
): Channel {
  const thread = world.addChannel(
    {
      type: CHANNEL_TYPE.thread,
      name,
      parentId: parent.id,
      ownerId,
      ...(parent.guildId === undefined ? {} : { guildId: parent.guildId }),
    },
    from?.id,
  );
  const data = describeChannel(world, thread);
  world.emit('THREAD_CREATE', { ...data, newly_created: true }, thread.guildId);
  const isForum = parent.type === CHANNEL_TYPE.forum;
  if (from === undefined && !isForum) announce(world, parent, thread, ownerId);
  if (from !== undefined)
    changeMessage(world, parent, from, { flags: from.flags | HAS_THREAD, thread: data });
  return thread;
}

/** The line "… started a thread" in the channel above; bots get it as a message of type 18. */
function announce(world: World, parent: Channel, thread: Channel, ownerId: string): void {
  const guild = parent.guildId === undefined ? {} : { guild_id: parent.guildId };
  storeMessage(world, parent, {
    author: world.user(ownerId),
    content: thread.name,
    type: 18,
    allowedMentions: { parse: [] },
    extra: { message_reference: { type: 0, channel_id: thread.id, ...guild } },
  });
}
