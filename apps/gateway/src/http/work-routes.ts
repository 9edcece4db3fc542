import type { Clock, Logger } from '@parley/contracts';
import type { Queues } from '@parley/queue';
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
  readonly queues: Pick<Queues, 'lanes' | 'deliveries'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** `/api/dead` and `/api/queue`. They tell what was said in private: guard them. */
export function addWorkRoutes(app: Hono<AppEnv>, { store, queues, clock, log }: Work): void {
  // What is replayed is told to whoever does it, in this process or in another one.
  const wake = (to: LetterWake): Promise<void> =>
    to.kind === 'conversation'
      ? queues.lanes.kick(to.conversationId)
      : queues.deliveries(to.chat.channel, to.chat.account).kick(to.chat.chatId);
  app.route('/api/dead', deadRoutes(createDeadDesk({ store, wake, clock, log })));
  app.route(
    '/api/queue',
    queueRoutes(() => lookAtQueue(store, clock)),
  );
}
