import type { VNode } from 'preact';
import { useContext, useErrorBoundary } from 'preact/hooks';
import { AgentsHere, UnknownAgent } from './agents.tsx';
import type { Route } from './route.ts';
import { DataScope } from './ui/data.tsx';
import { Lazy } from './ui/lazy.tsx';
import { ProblemNote } from './ui/widgets.tsx';
import type { ConsoleView } from './views.ts';
import { findMissingRole, type SignedInPerson } from './who.ts';

interface GuardedProps {
  readonly view: ConsoleView;
  readonly route: Route;
  readonly me: SignedInPerson;
}

/**
 * A view that is shown only to roles that may see it. The gateway would refuse requests from other
 * roles anyway.
 */
export function GuardedView({ view, route, me }: GuardedProps): VNode | null {
  const needed = findMissingRole(me, view.reads);
  const { state } = useContext(AgentsHere);
  if (state === 'gone') return <UnknownAgent route={route} />;
  if (state === 'asked') return null;
  if (needed === null) return <LoadedView view={view} route={route} />;
  return (
    <main class="column-view">
      <div>
        <h2>{view.label ?? 'Closed'}</h2>
        <ProblemNote
          reason={`This needs the role ${needed}. You are signed in as ${me.name}, ${me.role}.`}
        />
      </div>
    </main>
  );
}

/** A view, or the reason why it could not be shown. */
function LoadedView({ view, route }: { readonly view: ConsoleView; readonly route: Route }): VNode {
  // The gateway may have been updated since this page was loaded. The view's file may no longer
  // exist, or an answer may have an unexpected form.
  const [error] = useErrorBoundary();
  const broken = <BrokenView />;
  return (
    <DataScope>
      {error === undefined ? <Lazy load={view.load} props={route} broken={broken} /> : broken}
    </DataScope>
  );
}

function BrokenView(): VNode {
  const reason =
    'This view could not be shown. The gateway may have been updated, so reload the page.';
  return (
    <main class="column-view">
      <div>
        <h2>Error</h2>
        <ProblemNote reason={reason} again={() => location.reload()} />
      </div>
    </main>
  );
}
