import type { ComponentChildren, VNode } from 'preact';
import { useContext } from 'preact/hooks';
import { AgentsHere } from '../agents.tsx';
import { useDataScope } from './data.tsx';
import { formatMoment } from './format.ts';
import { Icon } from './icon.tsx';

interface FrameProps {
  readonly name: string;
  readonly title: string;
  /** The refresh button's label; if absent, only its icon is shown. */
  readonly refreshLabel?: string;
}

/** A single-column view with a title and its content. */
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

function ViewHead({ title, refreshLabel }: Omit<FrameProps, 'name'>): VNode {
  const { inTitles } = useContext(AgentsHere);
  return (
    <div class="view-head">
      <h2>{inTitles === null ? title : `${title} · ${inTitles}`}</h2>
      <button
        type="button"
        class="quiet"
        title={refreshLabel ?? 'Refresh'}
        onClick={useDataScope().refresh}
      >
        <Icon name="again" />
        {refreshLabel ?? <span class="visually-hidden">Refresh</span>}
      </button>
    </div>
  );
}

interface SplitViewProps extends FrameProps {
  /** The name of the list's entries, such as `Turns`. */
  readonly label: string;
  /**
   * Whether a narrow window shows the list; otherwise it shows the selected entry with a link back.
   */
  readonly showsList: boolean;
  readonly list: ComponentChildren;
  readonly back: string;
  /** The selected entry. */
  readonly children: ComponentChildren;
}

/** A view with a list and, beside it, one of the list's entries. */
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
  /** The time in ms; absent if it is unknown. */
  readonly at?: number | undefined;
  /** The displayed time; the default is `formatMoment(at)`. */
  readonly time?: string;
  readonly facts: string;
  readonly isChosen: boolean;
  readonly look?: string;
  readonly children?: ComponentChildren;
}

/** An entry in the list of a split view. */
export function EntryLink(props: EntryLinkProps): VNode {
  const { href, title, at, time, facts, isChosen, look = '', children } = props;
  return (
    <a href={href} class={`entry-link ${look}`} aria-current={isChosen ? 'true' : undefined}>
      <span class="entry-title clip">{title}</span>
      {at !== undefined && (
        <time class="hint" dateTime={new Date(at).toISOString()}>
          {time ?? formatMoment(at)}
        </time>
      )}
      <span class="hint clip">{facts}</span>
      {children && <span class="hint">{children}</span>}
    </a>
  );
}
