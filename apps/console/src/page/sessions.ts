import type { ShownSession } from '@parley/gateway/api';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { act, forgetEverything, type Outcome, signIn } from './gateway.ts';
import { momentOf } from './ui/format.ts';
import {
  ActionButton,
  ColumnView,
  listOf,
  OutcomeNote,
  p,
  shown,
  useFresh,
  useWork,
} from './ui/widgets.ts';

/** The browsers that are signed in, each with a button that ends it (U03). */
export function SessionsView(): VNode {
  const { answer, refresh } = useFresh<{ readonly sessions: readonly ShownSession[] }>(
    '/api/sessions',
  );
  const { outcome, run } = useWork(refresh);
  const end = async ({ id, isCurrent }: ShownSession): Promise<Outcome | undefined> => {
    const failure = await act(`/api/sessions/${encodeURIComponent(id)}`, 'DELETE');
    if (failure === undefined && isCurrent) forgetEverything();
    return failure;
  };
  return h(
    ColumnView,
    { name: 'sessions-view', title: 'Signed-in browsers' },
    p('facts', 'An unknown one? End it, then run "parley token rotate".'),
    h(OutcomeNote, { outcome }),
    shown(answer, ({ sessions }) =>
      listOf('cards', sessions, (session) =>
        h(Session, { key: session.id, session, onEnd: () => void run(() => end(session)) }),
      ),
    ),
  );
}

const NETWORKS: Readonly<Record<ShownSession['network'], string>> = {
  'this-machine': 'on the machine of the gateway',
  'local-network': 'from the local network',
  internet: 'from the internet',
  proxy: 'through a proxy',
};

interface SessionProps {
  readonly session: ShownSession;
  readonly onEnd: () => void;
}

function Session({ session, onEnd }: SessionProps): VNode {
  const { id, userAgent, isCurrent, usedAt, createdAt, expiresAt, network } = session;
  const name = browserName(userAgent);
  return h(
    'article',
    { class: 'card' },
    h('p', { title: userAgent }, h('b', null, name), isCurrent && ' this browser'),
    h('p', null, `Signed in ${NETWORKS[network]}: ${momentOf(createdAt)}`),
    p('facts', `${id} · last used: ${momentOf(usedAt)} · ends unless used: ${momentOf(expiresAt)}`),
    p(
      'actions',
      h(ActionButton, {
        label: isCurrent ? 'Sign out' : 'End',
        name: isCurrent ? 'Sign out of this browser' : `End: ${name}, ${id}`,
        look: isCurrent ? '' : 'is-grave',
        onPress: onEnd,
      }),
    ),
  );
}

/** The first that fits: most browsers also name those whose pages they want to be shown. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Mac OS', 'macOS'],
  ['Windows', 'Windows'],
  ['Linux', 'Linux'],
] as const;

/** `Firefox on Linux`; what is not known is shown as it was sent. */
export function browserName(userAgent: string): string {
  const named = (names: typeof BROWSERS | typeof SYSTEMS): string | undefined =>
    names.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = named(BROWSERS) ?? (userAgent || 'Unknown browser');
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}

interface SignInProps {
  /** Why the address that was opened did not sign in; null: it did not try to. */
  readonly trouble: string | null;
}

/** Shown to a browser without a session. */
export function SignInView({ trouble: first }: SignInProps): VNode {
  const [trouble, setTrouble] = useState(first);
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    setBusy(true);
    const reason = await signIn(String(new FormData(form).get('token')).trim());
    // Signed in, this view is gone.
    if (reason === null) return;
    setBusy(false);
    setTrouble(reason);
    form.querySelector('input')?.select();
  };
  return h(
    'main',
    { class: 'sign-in' },
    h('img', { src: '/page/icon.svg', alt: '', width: 56, height: 56 }),
    h('h1', { class: 'title' }, 'This chat is private'),
    h('p', null, 'Sign in with the token of this gateway.'),
    h(
      'form',
      { onSubmit: (event: Event) => void submit(event) },
      h('label', { for: 'token' }, 'Token'),
      h(
        'div',
        { class: 'sign-in-row' },
        h('input', {
          class: 'field',
          id: 'token',
          name: 'token',
          type: 'password',
          autocomplete: 'off',
          spellcheck: false,
          required: true,
          autofocus: true,
          'aria-describedby': trouble === null ? undefined : 'sign-in-trouble',
        }),
        h('button', { type: 'submit', class: 'action is-main', disabled: isBusy }, 'Open the chat'),
      ),
      trouble !== null &&
        h('p', { id: 'sign-in-trouble', class: 'trouble', role: 'alert' }, trouble),
    ),
    p(
      'lead',
      'On the machine of the gateway, ',
      h('code', null, 'parley token show'),
      ' prints an address that signs in directly.',
    ),
  );
}
