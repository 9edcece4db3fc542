import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type ActionOutcome, clearStoredData, performOperation, runOperation } from './gateway.ts';
import { type ActionRunner, useActionRunner, useOperation } from './ui/data.tsx';
import { formatMoment } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import {
  ActionButton,
  ConfirmButton,
  DataContent,
  List,
  OutcomeNote,
  Section,
} from './ui/widgets.tsx';

type ListedSession = OutputOf<'sessions/list'>['sessions'][number];
type ListedSignIn = OutputOf<'people/list'>['people'][number];

/**
 * The people with access to the page, their roles, and the browsers in which they are signed in
 * (U03).
 */
export function PeopleView(): VNode {
  const people = useOperation('people/list', {});
  const sessions = useOperation('sessions/list', {});
  const work = useActionRunner();
  const sessionsOf = (name: string | null): readonly ListedSession[] =>
    (sessions.value?.sessions ?? []).filter(({ person }) => person === name);
  return (
    <ColumnView name="people-view" title="People">
      <p class="facts">
        Don't recognize a session? Sign it out, then run "parley token rotate" or revoke that
        person's access.
      </p>
      <OutcomeNote outcome={work.outcome} />
      <DataContent data={sessions}>
        {() => (
          <DataContent data={people}>
            {({ people }) => (
              <Section title="Who has access">
                <ul class="cards">
                  <li key="">
                    <OwnerCard sessions={sessionsOf(null)} run={work.run} />
                  </li>
                  {people.map((one) => (
                    <li key={one.name}>
                      <PersonCard person={one} sessions={sessionsOf(one.name)} run={work.run} />
                    </li>
                  ))}
                </ul>
              </Section>
            )}
          </DataContent>
        )}
      </DataContent>
      <NewPerson run={work.run} />
    </ColumnView>
  );
}

interface SessionsProps {
  readonly sessions: readonly ListedSession[];
  readonly run: ActionRunner['run'];
}

function OwnerCard(props: SessionsProps): VNode {
  return (
    <article class="card" aria-label="Gateway token">
      <header>
        <h4>Gateway token</h4>
        <span class="hint">owner</span>
      </header>
      <SessionList {...props} />
    </article>
  );
}

function PersonCard(props: SessionsProps & { readonly person: ListedSignIn }): VNode {
  const { person, run } = props;
  const { name, role, createdAt, usedAt } = person;
  return (
    <article class="card" aria-label={name}>
      <header>
        <h4 dir="auto">{name}</h4>
        <span class="hint">{role}</span>
      </header>
      <p class="facts">
        {usedAt === null ? 'Never seen' : `Last seen: ${formatMoment(usedAt)}`} · added:{' '}
        {formatMoment(createdAt)}
      </p>
      <p class="actions">
        <ConfirmButton
          label="Revoke"
          name={`Revoke: ${name}`}
          look="is-grave"
          question={`${name}'s token and sessions end immediately.`}
          confirm="Revoke"
          onPress={() => run(() => runOperation('people/revoke', { name }))}
        />
      </p>
      <SessionList {...props} />
    </article>
  );
}

function SessionList({ sessions, run }: SessionsProps): VNode {
  return (
    <List look="rows" of={sessions}>
      {(session) => (
        <SessionRow
          key={session.id}
          session={session}
          onEnd={() => run(() => endListedSession(session))}
        />
      )}
    </List>
  );
}

/** Each role, and what people with this role may do. */
const ROLES: Readonly<Record<ListedSignIn['role'], string>> = {
  viewer: 'Viewer: status, metrics and usage, without names',
  operator: 'Operator: also channels, access, queue and audit, but no chats',
  owner: 'Owner: everything, including your chats',
};

/** Creates a token for a person and shows it once. */
function NewPerson({ run }: Pick<ActionRunner, 'run'>): VNode {
  const [added, setAdded] = useState<OutputOf<'people/add'> | null>(null);
  const address = useRef<HTMLInputElement>(null);
  useEffect(() => address.current?.focus(), [added]);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    run(async () => {
      const typed = Object.fromEntries(new FormData(form)) as InputOf<'people/add'>;
      const answer = await performOperation('people/add', typed);
      if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
      setAdded(answer.value);
      form.reset();
      return { text: `${answer.value.name} was added.`, isTrouble: false };
    });
  };
  return (
    <Section title="Add a person">
      {added !== null && (
        <label class="card stack">
          <span>
            <b>{added.name}</b> can sign in with this link. Send it privately: it is shown only
            once.
          </span>
          <input
            ref={address}
            class="field"
            readOnly
            value={`${location.origin}/#token=${added.token}`}
            onFocus={({ currentTarget }) => currentTarget.select()}
          />
        </label>
      )}
      <form class="fields" onSubmit={submit}>
        <label class="hint">
          Name
          <input class="field" name="name" required maxLength={40} autoComplete="off" />
        </label>
        <label class="hint">
          Role
          <select class="field" name="role">
            {Object.entries(ROLES).map(([role, text]) => (
              <option key={role} value={role}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <ActionButton label="Add" look="is-main" isSubmit />
      </form>
    </Section>
  );
}

async function endListedSession({
  id,
  isCurrent,
}: ListedSession): Promise<ActionOutcome | undefined> {
  const failure = await runOperation('sessions/end', { id });
  if (failure === undefined && isCurrent) clearStoredData();
  return failure;
}

const NETWORKS: Readonly<Record<ListedSession['network'], string>> = {
  'this-machine': 'from this machine',
  'local-network': 'from the local network',
  internet: 'from the internet',
  proxy: 'through a proxy',
};

function SessionRow({ session, onEnd }: { session: ListedSession; onEnd: () => void }): VNode {
  const { id, userAgent, isCurrent, usedAt, createdAt, expiresAt, network } = session;
  const name = describeBrowser(userAgent);
  return (
    <article class="row apart">
      <div class="grow">
        <p title={userAgent}>
          <b>{name}</b>
          {isCurrent && ' · this browser'}
        </p>
        <p class="facts">
          Signed in {NETWORKS[network]}: {formatMoment(createdAt)}
        </p>
        <p class="hint">
          {id} · last used: {formatMoment(usedAt)} · expires: {formatMoment(expiresAt)}
        </p>
      </div>
      <ActionButton
        label="Sign out"
        name={isCurrent ? 'Sign out of this browser' : `Sign out: ${name}, ${id}`}
        look={isCurrent ? '' : 'is-grave'}
        onPress={onEnd}
      />
    </article>
  );
}

/**
 * Listed by priority, because the user agents of most browsers also name other browsers for
 * compatibility. If the value is empty, the key is the browser's name.
 */
const BROWSERS = { Edg: 'Edge', OPR: 'Opera', Firefox: '', Chrome: '', Safari: '' };
const SYSTEMS = { Android: '', iPhone: '', iPad: '', 'Mac OS': 'macOS', Windows: '', Linux: '' };

/** A name such as `Firefox on Linux`; an unknown browser is shown with its raw user agent. */
export function describeBrowser(userAgent: string): string {
  const named = (names: Readonly<Record<string, string>>): string | undefined => {
    const [mark, name] = Object.entries(names).find(([mark]) => userAgent.includes(mark)) ?? [];
    return name || mark;
  };
  const browser = named(BROWSERS) ?? (userAgent || 'Unknown browser');
  const system = named(SYSTEMS);
  return system === undefined ? browser : `${browser} on ${system}`;
}
