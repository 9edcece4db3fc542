import { startTelegramDouble, type VisibleMessage } from '@parley/simulators/telegram';
import { simulateDay } from './day.ts';
import { DoubleOrder } from './doubles.ts';
import {
  startDisturbance,
  type TelegramCrowd,
  writeOneByOne,
  writeSideBySide,
  writeSteadily,
} from './people.ts';
import { getPreciseTime } from './processes.ts';

// The Telegram double in a separate process, together with the people who write: their cost does
// not count as the bot's, and both ends of a latency are read from one clock.

/** How long a bot may take until its first poll, in ms. */
const TIMEOUT_MS = 15_000;

const double = await startTelegramDouble({ clock: getPreciseTime });
const { transcript } = double;
let seen = 0;
let onAnswer: (answer: VisibleMessage) => void = () => {};
transcript.changes.onChange(() => {
  for (const message of transcript.after(seen)) {
    seen = message.seq;
    if (message.from === 'bot') onAnswer(message);
  }
});
const crowd: TelegramCrowd = {
  double,
  listen(next) {
    onAnswer = next;
  },
};

const tell = (result: unknown) => process.send?.(result);
process.on('message', (order) => {
  runOrder(DoubleOrder.parse(order)).then(
    (result) => tell({ result }),
    (error: unknown) => tell({ failure: String(error) }),
  );
});
process.on('disconnect', () => process.exit());
tell({ result: { apiRoot: double.apiRoot, token: double.token } });

async function runOrder(order: DoubleOrder): Promise<unknown> {
  switch (order.kind) {
    case 'first-poll':
      return double.waitFor(() => transcript.firstArrival('getUpdates'), TIMEOUT_MS);
    case 'one-by-one':
      return writeOneByOne(crowd, order);
    case 'side-by-side':
      return writeSideBySide(crowd, order);
    case 'steady':
      return writeSteadily(crowd, order);
    case 'disturb':
      startDisturbance(double, order.disturbance);
      return null;
    case 'day':
      await simulateDay(double, order.ms);
      return null;
  }
}
