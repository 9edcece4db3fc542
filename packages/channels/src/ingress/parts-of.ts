import type { ReplyRoute } from '@parley/contracts';
import { render } from '@parley/markup';
import type { NewPart } from '@parley/store';

/**
 * The parts in which a notice or a command's answer goes back on a route, in the dialect and lengths
 * of its platform. At once, because these texts are our own and short; answers are rendered in steps.
 */
export function partsOf(markdown: string, route: ReplyRoute): NewPart[] {
  return render(markdown, route.target).map((body) => ({ route, body }));
}
