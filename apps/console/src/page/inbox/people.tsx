import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { toHref } from '../route.ts';
import { useOperation } from '../ui/data.tsx';
import { formatAmount, formatMoment } from '../ui/format.ts';
import { DataContent } from '../ui/widgets.tsx';
import { formatMoney } from '../usage/figures.ts';

type Person = OutputOf<'conversations/people'>['people'][number];

const ROLES: Readonly<Record<Person['role'], string>> = {
  owner: 'Owner',
  paired: 'Let in with a code',
  guest: 'Allowed by the settings',
};

/** The people in a conversation: their roles, accounts and limits, and when they last wrote. */
export function ConversationPeople({ id }: { readonly id: string }): VNode {
  const data = useOperation('conversations/people', { id }, 'live');
  return (
    <div class="stack panel-body">
      <DataContent data={data}>
        {({ people }) =>
          people.length === 0 ? (
            <p class="nothing">Nobody has written here yet.</p>
          ) : (
            people.map((one) => <PersonCard key={one.person} person={one} />)
          )
        }
      </DataContent>
      <p>
        <a href={toHref('channels')}>Channels and requests</a> ·{' '}
        <a href={toHref('people')}>Sign-ins</a>
      </p>
    </div>
  );
}

function PersonCard({ person: one }: { readonly person: Person }): VNode {
  const { name, person, role, linked, lastAt } = one;
  return (
    <section class="person" aria-label={name}>
      <p>
        <b dir="auto">{name}</b> <span class="hint">{person}</span>
      </p>
      <dl class="pairs">
        <dt>Role</dt>
        <dd>{ROLES[role]}</dd>
        {linked.length > 0 && (
          <>
            <dt>Also</dt>
            <dd>{linked.join(', ')}</dd>
          </>
        )}
        <dt>Last seen</dt>
        <dd>{formatMoment(lastAt)}</dd>
        <dt>Today</dt>
        <dd>{describeUsedToday(one)}</dd>
      </dl>
      <p>
        <a href={toHref('memory')}>Memories</a> · <a href={toHref('usage')}>Usage</a>
      </p>
    </section>
  );
}

/** Today's usage, and the limit if there is one. */
export function describeUsedToday({ today, cap }: Pick<Person, 'today' | 'cap'>): string {
  const { tokens, costUsd } = today;
  const money = costUsd > 0 ? ` (${formatMoney(costUsd)})` : '';
  const used = `${formatAmount(tokens)} tokens${money}`;
  const limits = [
    ...(cap?.tokens === undefined ? [] : [`${formatAmount(cap.tokens)} tokens`]),
    ...(cap?.usd === undefined ? [] : [formatMoney(cap.usd)]),
  ];
  return limits.length === 0 ? used : `${used} of ${limits.join(' or ')}`;
}
