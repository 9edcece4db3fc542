import { askModel } from './ask-model.ts';
import { runBot, serveChat } from './durable-core.ts';

// The smallest durable bot without libraries: the lower bound for Parley. Lanes are kept in memory.

const lanes = new Map<number, { again: boolean }>();

async function answerWaiting(chat: number): Promise<void> {
  const running = lanes.get(chat);
  if (running !== undefined) {
    running.again = true;
    return;
  }
  const lane = { again: true };
  lanes.set(chat, lane);
  while (lane.again) {
    lane.again = false;
    await serveChat(chat, askModel);
  }
  lanes.delete(chat);
}

await runBot((chat) => void answerWaiting(chat));
