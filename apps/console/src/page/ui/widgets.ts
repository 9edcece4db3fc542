import { type ComponentChildren, h, type VNode } from 'preact';
import type { Answer } from '../gateway.ts';
import { momentOf } from './format.ts';

const PATHS = {
  send: 'M12 19V5.500M5.500 11.500 12 5l6.500 6.500',
  stop: 'M7 7h10v10H7z',
  down: 'M12 5v13.500M5.500 12.500 12 19l6.500-6.500',
  fresh: 'M12 5v14M5 12h14',
  chat: 'M4.500 6.500h15v10h-8l-4.500 3.500v-3.500h-2.500z',
  prompt:
    'M12 4 3.500 8.500 12 13l8.500-4.500zM3.500 12.500 12 17l8.500-4.500M3.500 16.500 12 21l8.500-4.500',
  soul: 'M12 20s-7.500-4.600-7.500-10a4.200 4.200 0 0 1 7.500-2.600A4.200 4.200 0 0 1 19.500 10c0 5.400-7.500 10-7.500 10z',
  heartbeat: 'M3 12.500h4l2.500-6 4.500 12 2.500-6H21',
  why: 'M8.500 9a3.500 3.500 0 1 1 5 3.200c-1 .500-1.500 1.200-1.500 2.300M12 18.500v.500',
  queue: 'M4 13.500h4.500l1.500 2.500h4l1.500-2.500H20M6.500 5.500h11L20 13.500v5H4v-5z',
  audit:
    'M12 3.500 5 6v5.500c0 4.500 3 7.500 7 9 4-1.500 7-4.500 7-9V6zM9 11.500l2.200 2.300 4-4.300',
  again: 'M19.500 12a7.500 7.500 0 1 1-2.200-5.300M19.500 4v4h-4',
  key: 'M8.500 19a4.500 4.500 0 1 1 0-9 4.500 4.500 0 0 1 0 9zM11.700 11.300 19.500 3.500M16 7l2.500 2.500',
  back: 'M14.500 5.500 8 12l6.500 6.500',
} as const;

/** A line drawing in the colour of its text; says nothing to a screen reader, its button does. */
export function Icon({ name }: { readonly name: keyof typeof PATHS }): VNode {
  const shape = h('path', { d: PATHS[name] });
  return h(
    'svg',
    { class: `icon icon-${name}`, viewBox: '0 0 24 24', 'aria-hidden': 'true' },
    shape,
  );
}

interface RefreshProps {
  readonly onRefresh: () => void;
  /** `Refresh` when absent. */
  readonly label?: string;
}

/** Asks the gateway again. */
function RefreshButton({ onRefresh, label = 'Refresh' }: RefreshProps): VNode {
  return h(
    'button',
    { type: 'button', class: 'quiet', onClick: onRefresh, title: label },
    h(Icon, { name: 'again' }),
    label,
  );
}

interface ActionProps {
  readonly label: string;
  readonly onPress: () => void;
  /** What a screen reader says instead, where several buttons have the same label. */
  readonly name?: string;
  /** It cannot be undone. */
  readonly isGrave?: boolean;
  readonly isBusy?: boolean;
}

/** A button for what can be done with one thing of a view. */
export function ActionButton(props: ActionProps): VNode {
  const { label, onPress, name, isGrave = false, isBusy = false } = props;
  return h(
    'button',
    {
      type: 'button',
      class: `action ${isGrave ? 'is-grave' : ''}`,
      'aria-label': name,
      disabled: isBusy,
      onClick: onPress,
    },
    label,
  );
}

/** What went wrong, for people; nothing when null. */
export function Trouble({ reason }: { readonly reason: string | null }): VNode | null {
  return reason === null ? null : h('p', { class: 'trouble', role: 'alert' }, reason);
}

/** The answer once it is here; until then that it is awaited, or why there is none. */
export function shown<Value>(
  answer: Answer<Value>,
  show: (value: Value) => VNode | null,
): VNode | null {
  if (answer.kind === 'here') return show(answer.value);
  if (answer.kind === 'failed') return h(Trouble, { reason: answer.reason });
  return h('p', { class: 'facts', role: 'status' }, 'Loading…');
}

/** The result of what a person has just done. */
export interface Outcome {
  readonly text: string;
  readonly isTrouble: boolean;
}

/** Says how it ended; a screen reader reads it out. */
export function OutcomeNote({ outcome }: { readonly outcome: Outcome | undefined }): VNode {
  const look = outcome?.isTrouble ? 'trouble' : 'outcome';
  return h('p', { class: look, role: 'status', hidden: !outcome }, outcome?.text);
}

interface ColumnViewProps {
  /** For the style sheet. */
  readonly name: string;
  readonly title: string;
  readonly isBusy?: boolean;
  readonly refresh?: RefreshProps;
  readonly children?: ComponentChildren;
}

/** A view of one column: its title, and what it shows. */
export function ColumnView({ name, title, isBusy, refresh, children }: ColumnViewProps): VNode {
  return h(
    'main',
    { class: `column-view ${name}`, 'aria-busy': isBusy },
    h(
      'div',
      { class: 'view-column' },
      h('div', { class: 'view-head' }, h('h2', null, title), refresh && h(RefreshButton, refresh)),
      children,
    ),
  );
}

interface SplitViewProps {
  readonly name: string;
  readonly title: string;
  /** What the list holds, `Turns`. */
  readonly label: string;
  readonly refresh: RefreshProps;
  /** A narrow window shows the list alone; else the sheet with a way back. */
  readonly showsList: boolean;
  readonly list: ComponentChildren;
  /** The address of the list. */
  readonly back: string;
  readonly sheet: ComponentChildren;
}

/** A view of a list and, beside it, one of its entries. */
export function SplitView(props: SplitViewProps): VNode {
  const { name, title, label, refresh, showsList, list, back, sheet } = props;
  return h(
    'main',
    { class: `split-view ${name} ${showsList ? 'shows-list' : 'shows-sheet'}` },
    h(
      'nav',
      { class: 'entries', 'aria-label': label },
      h('div', { class: 'entries-head' }, h('h2', null, title), h(RefreshButton, refresh)),
      list,
    ),
    h(
      'article',
      { class: 'entry', tabIndex: -1 },
      h(
        'a',
        { class: 'back', href: back },
        h(Icon, { name: 'back' }),
        `All ${label.toLowerCase()}`,
      ),
      sheet,
    ),
  );
}

interface EntryLinkProps {
  readonly href: string;
  readonly title: string;
  /** In ms. */
  readonly at: number;
  /** `momentOf(at)` when absent. */
  readonly time?: string;
  readonly facts: string;
  readonly isChosen: boolean;
  readonly look?: string;
  readonly children?: ComponentChildren;
}

/** One entry of the list of a split view. */
export function EntryLink(props: EntryLinkProps): VNode {
  const { href, title, at, time = momentOf(at), facts, isChosen, look = '', children } = props;
  return h(
    'a',
    { href, class: `entry-link ${look}`, 'aria-current': isChosen ? 'true' : undefined },
    h('span', { class: 'entry-title' }, title),
    h('time', { dateTime: new Date(at).toISOString() }, time),
    h('span', { class: 'entry-facts' }, facts),
    children,
  );
}
