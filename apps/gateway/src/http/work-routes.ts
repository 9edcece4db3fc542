import type { Clock, LiveBus, Logger } from '@parley/contracts';
import { type WakeUpQueue, wakeDeliveryOn } from '@parley/queue';
import type { LetterWake, Store } from '@parley/store';
import type { Hono } from 'hono';
import { createDeadDesk } from '../dead-letters/dead-desk.ts';
import { lookAtQueue } from '../look-at-queue.ts';
import type { AppEnv } from './access.ts';
import { deadRoutes } from './dead-routes.ts';
import { queueRoutes } from './queue-routes.ts';

/** What the routes of dead letters and of the queue look at. */
export interface Work {
  readonly store: Pick<Store, 'backlog' | 'outbox' | 'deadLetters' | 'processes'>;
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly bus: LiveBus;
  readonly clock: Clock;
  readonly log: Logger;
}

/** `/api/dead` and `/api/queue`. They tell what was said in private: guard them. */
export function addWorkRoutes(app: Hono<AppEnv>, { store, turns, bus, clock, log }: Work): void {
  // What is replayed is told to whoever does it, in this process or in another one.
  const deliver = wakeDeliveryOn(bus);
  const wake = (to: LetterWake): Promise<void> =>
    to.kind === 'conversation'
      ? turns.kick(to.conversationId)
      : deliver(to.chat.channel, to.chat.account, to.chat.chatId);
  app.route('/api/dead', deadRoutes(createDeadDesk({ store, wake, clock, log })));
  app.route(
    '/api/queue',
    queueRoutes(() => lookAtQueue(store, clock)),
  );
}
