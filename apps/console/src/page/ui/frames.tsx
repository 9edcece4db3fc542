import type { ComponentChildren, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { AgentsHere } from '../agents.tsx';
import { useScope } from './data.tsx';
import { momentOf } from './format.ts';
import { Icon } from './icon.tsx';

interface FrameProps {
  /** For the style sheet. */
  readonly name: string;
  readonly title: string;
  /** The label of the button that asks the gateway again; absent: a drawing alone. */
  readonly refreshLabel?: string;
}

/** A view of one column: its title, and what it shows. */
export function ColumnView(props: FrameProps & { children: ComponentChildren }): VNode {
  const { name, children, ...head } = props;
  return (
    <main class={`column-view ${name}`}>
      <div>
        <ViewHead {...head} />
        {children}
      </div>
    </main>
  );
}

/** The title of a view, and a button that asks the gateway again. */
function ViewHead({ title, refreshLabel }: Omit<FrameProps, 'name'>): VNode {
  const { inTitles } = useContext(AgentsHere);
  return (
    <div class="view-head">
      <h2>{inTitles === null ? title : `${title} · ${inTitles}`}</h2>
      <button
        type="button"
        class="quiet"
        title={refreshLabel ?? 'Refresh'}
        onClick={useScope().refresh}
      >
        <Icon name="again" />
        {refreshLabel ?? <span class="visually-hidden">Refresh</span>}
      </button>
    </div>
  );
}

interface SplitViewProps extends FrameProps {
  /** The name of the list's entries, `Turns`. */
  readonly label: string;
  /** A narrow window shows the list alone; else the sheet with a way back. */
  readonly showsList: boolean;
  readonly list: ComponentChildren;
  /** The address of the list. */
  readonly back: string;
  /** The chosen entry. */
  readonly children: ComponentChildren;
}

/** A view of a list and, beside it, one of its entries. */
export function SplitView(props: SplitViewProps): VNode {
  const { name, label, showsList, list, back, children, ...head } = props;
  return (
    <main class={`split-view ${name} ${showsList ? 'shows-list' : 'shows-sheet'}`}>
      <nav class="entries" aria-label={label}>
        <ViewHead {...head} />
        {list}
      </nav>
      <article class="entry" tabIndex={-1}>
        <a class="quiet back" href={back}>
          <Icon name="back" />
          All {label.toLowerCase()}
        </a>
        {children}
      </article>
    </main>
  );
}

interface EntryLinkProps {
  readonly href: string;
  readonly title: ComponentChildren;
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
  return (
    <a href={href} class={`entry-link ${look}`} aria-current={isChosen ? 'true' : undefined}>
      <span class="entry-title clip">{title}</span>
      <time class="hint" dateTime={new Date(at).toISOString()}>
        {time}
      </time>
      <span class="hint clip">{facts}</span>
      {children && <span class="hint">{children}</span>}
    </a>
  );
}
