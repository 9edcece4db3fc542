import type { OperationName } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { toHref } from './route.ts';
import { useOperation } from './ui/data.tsx';
import { Icon } from './ui/icon.tsx';
import { type ConsoleView, type NavigationPlace, PLACES } from './views.ts';
import { findMissingRole, type SignedInPerson } from './who.ts';

/** How many approvals and people are waiting for the owner. */
export interface WaitingCounts {
  readonly questions: number;
  readonly people: number;
}

/** The pending approvals and waiting people that the signed-in person's role may see (F05, G05). */
export function useWaitingCounts(me: SignedInPerson | null, isOnline: boolean): WaitingCounts {
  const inputFor = (read: OperationName): Record<string, never> | null =>
    isOnline && me !== null && findMissingRole(me, read) === null ? {} : null;
  const asked = useOperation('approvals/waiting', inputFor('approvals/waiting'), 'live');
  const report = useOperation('channels/report', inputFor('channels/report'), 'live');
  return {
    questions: (isOnline && asked.value?.approvals.length) || 0,
    people: (isOnline && report.value?.waiting.length) || 0,
  };
}

interface NavigationProps {
  readonly me: SignedInPerson;
  readonly place: NavigationPlace | undefined;
  /** The address of the chat. */
  readonly chat: string;
  readonly waiting: WaitingCounts;
}

/** The views in a place that have a link and that the person may open. */
export function listViews(me: SignedInPerson, { views }: NavigationPlace): readonly ConsoleView[] {
  return views.filter(({ label, reads }) => label !== null && findMissingRole(me, reads) === null);
}

/** The four places of the navigation: a bar beside the page or, on a phone, below it. */
export function Rail({ me, place, chat, waiting }: NavigationProps): VNode {
  return (
    <nav class="rail" aria-label="Main">
      <img src="/page/icon.svg" alt="" width={32} height={32} />
      {PLACES.map((one) => {
        const { id, name, icon } = one;
        const first = listViews(me, one)[0];
        if (first === undefined) return null;
        return (
          <a
            key={id}
            href={id === 'inbox' ? chat : toHref(first.id)}
            class={`is-${id}`}
            aria-current={place === one ? 'true' : undefined}
          >
            <Icon name={icon} />
            {name}
            {id === 'inbox' && <Badge count={waiting.questions} what={QUESTIONS} />}
            {id === 'operate' && <Badge count={waiting.people} what={PEOPLE} />}
          </a>
        );
      })}
    </nav>
  );
}

interface ViewLinksProps extends Omit<NavigationProps, 'chat' | 'place'> {
  readonly place: NavigationPlace;
  /** The id of the current view. */
  readonly shown: string;
}

/**
 * Links to the views of one place: a list beside the view, or a row of tabs above it in a narrow
 * window.
 */
export function ViewLinks({ me, place, shown, waiting }: ViewLinksProps): VNode {
  const box = useRef<HTMLElement>(null);
  // In a narrow window, the row of links scrolls, so the link to the current view may be out of
  // sight.
  useEffect(() => {
    const link = box.current?.querySelector('[aria-current]');
    link?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [shown]);
  return (
    <nav ref={box} class="views" aria-label={`${place.name} views`}>
      {listViews(me, place).map(({ id, label, icon }) => (
        <a
          key={id}
          class="quiet"
          href={toHref(id)}
          aria-current={shown === id ? 'page' : undefined}
        >
          <Icon name={icon} />
          {label}
          {id === 'channels' && <Badge count={waiting.people} what={PEOPLE} />}
          {id === 'approvals' && <Badge count={waiting.questions} what={QUESTIONS} />}
        </a>
      ))}
    </nav>
  );
}

const QUESTIONS = ['question waits', 'questions wait'] as const;
const PEOPLE = ['person waits', 'people wait'] as const;

interface BadgeProps {
  readonly count: number;
  /** The singular and plural of the badge's noun, for screen readers. */
  readonly what: readonly [one: string, several: string];
}

/** A badge with the number of pending items, which is hidden if there are none. */
function Badge({ count, what }: BadgeProps): VNode | null {
  if (count === 0) return null;
  return (
    <span class="badge">
      {count}
      <span class="visually-hidden"> {count === 1 ? what[0] : what[1]}</span>
    </span>
  );
}
