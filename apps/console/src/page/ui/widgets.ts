import { type ComponentChildren, h, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Answer, type Outcome, useAnswer } from '../gateway.ts';
import { type ElementSlot, useElement } from './elements.ts';
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

/** A paragraph of a look of the style sheet, `facts`. */
export function p(look: string, ...text: ComponentChildren[]): VNode {
  return h('p', { class: look }, text);
}

/** A list of what `show` draws, whose keys are those of the list. */
export function listOf<Item>(
  look: string,
  items: readonly Item[],
  show: (item: Item) => VNode,
): VNode {
  const shown = items.map(show).map((one) => h('li', { key: one.key }, one));
  return h('ul', { class: look }, shown);
}

interface ActionProps {
  readonly label: string;
  readonly onPress: () => void;
  /** What a screen reader says instead, where several buttons have the same label. */
  readonly name?: string | undefined;
  /** `is-main`: what is meant to be pressed; `is-grave`: it cannot be undone. */
  readonly look?: 'is-main' | 'is-grave' | '' | undefined;
  readonly isBusy?: boolean | undefined;
  /** Of a button that shows more. */
  readonly isExpanded?: boolean;
  readonly slot?: ElementSlot<HTMLButtonElement>;
}

/** A button for what can be done with one thing of a view. */
export function ActionButton(props: ActionProps): VNode {
  const { label, onPress, name, look = '', isBusy = false, isExpanded, slot } = props;
  const facts = { class: `action ${look}`, 'aria-label': name, 'aria-expanded': isExpanded };
  const works = { disabled: isBusy, onClick: onPress, ...(slot && { ref: slot.ref }) };
  return h('button', { ...facts, ...works, type: 'button' as const }, label);
}

interface ConfirmButtonProps extends ActionProps {
  /** The risk; absent: it is done at once. */
  readonly question?: string | undefined;
  readonly confirm: string;
}

/** A button that asks for confirmation before it does what cannot be undone. */
export function ConfirmButton({ question, confirm, ...action }: ConfirmButtonProps): VNode {
  const { look, isBusy, onPress } = action;
  const [isAsked, setAsked] = useState(false);
  const start = useElement(HTMLButtonElement);
  const cancel = useElement(HTMLButtonElement);
  const wasAsked = useRef(false);
  useEffect(() => {
    // The keyboard focus stays on this button or its question.
    if (wasAsked.current !== isAsked) (isAsked ? cancel : start).current?.focus();
    wasAsked.current = isAsked;
  }, [isAsked]);
  if (question === undefined) return h(ActionButton, action);
  const asked = (isOpen: boolean) => (): void => setAsked(isOpen);
  if (!isAsked) return h(ActionButton, { ...action, slot: start, onPress: asked(true) });
  return h(
    'span',
    {
      class: 'actions confirm',
      role: 'group',
      'aria-label': question,
      onKeyDown: (event: KeyboardEvent) => event.key === 'Escape' && setAsked(false),
    },
    h('span', { class: 'confirm-question' }, question),
    h(ActionButton, {
      label: confirm,
      look,
      isBusy,
      onPress: () => {
        setAsked(false);
        onPress();
      },
    }),
    h(ActionButton, { label: 'Cancel', slot: cancel, onPress: asked(false) }),
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

interface FreshOptions<Value> {
  /** Of the view around it, which asks again with it. */
  readonly round?: number;
  /** Asks again after so many ms. */
  readonly againMs?: (answer: Answer<Value>) => number;
}

/** Asks for what a view shows; `refresh` asks again. */
export function useFresh<Value>(path: string, options: FreshOptions<Value> = {}) {
  const { round: outer = 0, againMs } = options;
  const [round, setRound] = useState(0);
  const answer = useAnswer<Value>(path, outer + round);
  const refresh = (): void => setRound((last) => last + 1);
  useEffect(() => {
    if (againMs === undefined) return;
    const timer = setTimeout(refresh, againMs(answer));
    return () => clearTimeout(timer);
  }, [answer]);
  return { answer, refresh, round };
}

/** What a person can do in a view, one thing at a time; the buttons wait while it `isBusy`. */
export function useWork(onDone: () => void) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const run = async (work: () => Promise<Outcome | undefined>): Promise<void> => {
    setBusy(true);
    setOutcome(await work());
    setBusy(false);
    onDone();
  };
  return { isBusy, outcome, run };
}

/** Says how it ended; a screen reader reads it out. */
export function OutcomeNote({ outcome }: { readonly outcome: Outcome | undefined }): VNode {
  const look = outcome?.isTrouble ? 'trouble' : 'outcome';
  return h('p', { class: look, role: 'status', hidden: !outcome }, outcome?.text);
}

interface FrameProps {
  /** For the style sheet. */
  readonly name: string;
  readonly title: string;
}

interface ColumnViewProps extends FrameProps {
  readonly isBusy?: boolean;
  readonly refresh?: () => void;
  readonly refreshLabel?: string;
  readonly children?: ComponentChildren;
}

/** A view of one column: its title, and what it shows. */
export function ColumnView(props: ColumnViewProps): VNode {
  const { name, title, isBusy, refresh, refreshLabel, children } = props;
  return h(
    'main',
    { class: `column-view ${name}`, 'aria-busy': isBusy },
    h('div', null, viewHead(title, refresh, refreshLabel), children),
  );
}

/** The title of a view, and a button that asks the gateway again. */
function viewHead(title: string, refresh?: () => void, label = 'Refresh'): VNode {
  const facts = { type: 'button', class: 'quiet', title: label } as const;
  return h(
    'div',
    { class: 'view-head' },
    h('h2', null, title),
    refresh && h('button', { ...facts, onClick: refresh }, h(Icon, { name: 'again' }), label),
  );
}

interface SplitViewProps extends FrameProps {
  /** What the list holds, `Turns`. */
  readonly label: string;
  readonly refresh: () => void;
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
  const all = `All ${label.toLowerCase()}`;
  return h(
    'main',
    { class: `split-view ${name} ${showsList ? 'shows-list' : 'shows-sheet'}` },
    h('nav', { class: 'entries', 'aria-label': label }, viewHead(title, refresh), list),
    h(
      'article',
      { class: 'entry', tabIndex: -1 },
      h('a', { class: 'quiet back', href: back }, h(Icon, { name: 'back' }), all),
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
    h('span', { class: 'entry-title clip' }, title),
    h('time', { class: 'hint', dateTime: new Date(at).toISOString() }, time),
    h('span', { class: 'hint clip' }, facts),
    children && h('span', { class: 'hint' }, children),
  );
}
