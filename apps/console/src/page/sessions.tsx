import type { ShownSession } from '@parley/gateway/api';
import type { VNode } from 'preact';
import { act, forgetEverything, type Outcome } from './gateway.ts';
import { useData, useWork } from './ui/data.tsx';
import { momentOf } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import { ActionButton, List, OutcomeNote, Show } from './ui/widgets.tsx';

/** The browsers that are signed in, each with a button that ends it (U03). */
export function SessionsView(): VNode {
  const data = useData<{ readonly sessions: readonly ShownSession[] }>('/api/sessions');
  const { outcome, run } = useWork();
  return (
    <ColumnView name="sessions-view" title="Signed-in browsers">
      <p class="facts">An unknown one? End it, then run "parley token rotate".</p>
      <OutcomeNote outcome={outcome} />
      <Show data={data}>
        {({ sessions }) => (
          <List look="cards" of={sessions}>
            {(session) => (
              <Session key={session.id} session={session} onEnd={() => run(() => end(session))} />
            )}
          </List>
        )}
      </Show>
    </ColumnView>
  );
}

async function end({ id, isCurrent }: ShownSession): Promise<Outcome | undefined> {
  const failure = await act(`/api/sessions/${encodeURIComponent(id)}`, 'DELETE');
  if (failure === undefined && isCurrent) forgetEverything();
  return failure;
}

const NETWORKS: Readonly<Record<ShownSession['network'], string>> = {
  'this-machine': 'on the machine of the gateway',
  'local-network': 'from the local network',
  internet: 'from the internet',
  proxy: 'through a proxy',
};

function Session({ session, onEnd }: { session: ShownSession; onEnd: () => void }): VNode {
  const { id, userAgent, isCurrent, usedAt, createdAt, expiresAt, network } = session;
  const name = browserName(userAgent);
  return (
    <article class="card">
      <p title={userAgent}>
        <b>{name}</b>
        {isCurrent && ' this browser'}
      </p>
      <p>
        Signed in {NETWORKS[network]}: {momentOf(createdAt)}
      </p>
      <p class="facts">
        {id} · last used: {momentOf(usedAt)} · ends unless used: {momentOf(expiresAt)}
      </p>
      <p class="actions">
        <ActionButton
          label={isCurrent ? 'Sign out' : 'End'}
          name={isCurrent ? 'Sign out of this browser' : `End: ${name}, ${id}`}
          look={isCurrent ? '' : 'is-grave'}
          onPress={onEnd}
        />
      </p>
    </article>
  );
}

/** The first that fits: most browsers also name those whose pages they want to be shown. Empty: it is the name. */
const BROWSERS = { Edg: 'Edge', OPR: 'Opera', Firefox: '', Chrome: '', Safari: '' };
const SYSTEMS = { Android: '', iPhone: '', iPad: '', 'Mac OS': 'macOS', Windows: '', Linux: '' };

/** `Firefox on Linux`; what is not known is shown as it was sent. */
export function browserName(userAgent: string): string {
  const named = (names: Readonly<Record<string, string>>): string | undefined => {
    const [mark, name] = Object.entries(names).find(([mark]) => userAgent.includes(mark)) ?? [];
    return name || mark;
  };
  const browser = named(BROWSERS) ?? (userAgent || 'Unknown browser');
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
