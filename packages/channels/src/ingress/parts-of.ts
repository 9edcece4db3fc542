import type { ReplyRoute } from '@parley/contracts';
import { render } from '@parley/markup';
import type { NewPart } from '@parley/store';

/** The parts in which a text goes back on a route, in the dialect and lengths of its platform. */
export function partsOf(markdown: string, route: ReplyRoute): NewPart[] {
  return render(markdown, route.target).map((body) => ({ route, body }));
}
