import { describeChannel } from './descriptions.ts';
import { changeMessage } from './message-store.ts';
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
  if (from !== undefined)
    changeMessage(world, parent, from, { flags: from.flags | HAS_THREAD, thread: data });
  return thread;
}
