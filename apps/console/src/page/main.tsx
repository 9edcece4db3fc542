import { signal } from '@preact/signals';
import { render } from 'preact';
import { createChatClient } from './chat/client.ts';
import { createBrowserConnection } from './chat/connection.ts';
import { createSender, createUnsentStore } from './chat/sender.ts';
import { createFileStore } from './chat/unsent-files.ts';
import { createRandomId, extractSignInToken, fetchWithSession, signIn, upload } from './gateway.ts';
import { parseRoute } from './route.ts';
import { Shell } from './shell.tsx';
import { DataScope } from './ui/data.tsx';
import { LiveChanges } from './ui/live.ts';

const BASE = '/channels/web/default';

/** The page's composition root. */
async function main(): Promise<void> {
  const root = document.getElementById('app');
  if (!root) throw new Error('The page does not contain #app, so its index.html is damaged.');
  const files = createFileStore();
  const client = createChatClient({
    connection: createBrowserConnection(BASE),
    sender: (listener) =>
      createSender({
        base: BASE,
        request: fetchWithSession,
        upload,
        files,
        pause: runLater,
        listener,
      }),
    unsent: createUnsentStore(localStorage),
    files,
    newId: createRandomId,
    clock: Date.now,
    reload: () => location.reload(),
    visibility: {
      isHidden: () => document.hidden,
      onChange: (listener) => document.addEventListener('visibilitychange', listener),
      later: runLater,
    },
  });
  // When the browser returns from signing in to an MCP server, the view that started the sign-in
  // passes the result to the gateway.
  if (location.search.includes('state=')) {
    history.replaceState(null, '', `/#/status/${encodeURIComponent(location.search)}`);
  }
  const route = signal(parseRoute(location.hash));
  const trouble = signal<string | null>(null);
  const enter = async (): Promise<void> => {
    const token = extractSignInToken();
    route.value = parseRoute(location.hash);
    const { view, args } = route.value;
    if (view === 'chat') client.open(args[0] ?? 'main');
    trouble.value = token === null ? null : await signIn(token);
  };
  addEventListener('hashchange', () => void enter());
  await enter();
  render(
    <LiveChanges.Provider value={client.changes}>
      <DataScope>
        <Shell client={client} route={route} trouble={trouble} />
      </DataScope>
    </LiveChanges.Provider>,
    root,
  );
  client.start();
}

function runLater(task: () => void, ms: number): void {
  setTimeout(task, ms);
}

void main();
