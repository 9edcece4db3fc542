import { h, render } from 'preact';
import { createChatClient } from './chat/client.ts';
import { browserConnection } from './chat/connection.ts';
import { createSender, createUnsentStore } from './chat/sender.ts';
import { randomId, request, signIn, takeToken } from './gateway.ts';
import { Shell } from './shell.ts';

const BASE = '/channels/web/default';

/** The composition root of the page. */
async function main(): Promise<void> {
  const root = document.getElementById('app');
  if (!root) throw new Error('The page has no #app; its index.html is damaged.');
  const client = createChatClient({
    connection: browserConnection(BASE),
    sender: (listener) => createSender({ base: BASE, request, pause, listener }),
    unsent: createUnsentStore(localStorage),
    newId: randomId,
    clock: Date.now,
  });
  const show = (trouble: string | null): void => render(h(Shell, { client, trouble }), root);
  const enter = async (): Promise<void> => {
    const token = takeToken();
    show(token === null ? null : await signIn(token));
  };
  addEventListener('hashchange', () => void enter());
  await enter();
  client.start();
}

function pause(task: () => void, ms: number): void {
  setTimeout(task, ms);
}

void main();
