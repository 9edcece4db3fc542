import { askModel } from './ask-model.ts';
import { runBot, serve } from './durable-core.ts';

// The smallest durable bot without libraries: the lower bound for Parley. Lanes are kept in memory.

const lanes = new Map<number, { again: boolean }>();

async function work(chat: number): Promise<void> {
  const running = lanes.get(chat);
  if (running !== undefined) {
    running.again = true;
    return;
  }
  const lane = { again: true };
  lanes.set(chat, lane);
  while (lane.again) {
    lane.again = false;
    await serve(chat, askModel);
  }
  lanes.delete(chat);
}

await runBot((chat) => void work(chat));
