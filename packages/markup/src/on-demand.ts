import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * Loads all that renders. Synchronous, because rendering is; on demand, because its hundred modules
 * cost a start about 80 ms and 15 MB before anybody has asked anything. Node caches the module.
 */
function engine(): typeof import('./engine.ts') {
  return require('./engine.ts');
}

/** `render` of `render.ts`. */
export const render: typeof import('./engine.ts')['render'] = (markdown, target) =>
  engine().render(markdown, target);

/** `renderInSteps` of `render.ts`. */
export const renderInSteps: typeof import('./engine.ts')['renderInSteps'] = (
  markdown,
  target,
  pause,
) => engine().renderInSteps(markdown, target, pause);

/** `createPrefixRenderer` of `prefix-renderer.ts`. */
export const createPrefixRenderer: typeof import('./engine.ts')['createPrefixRenderer'] = (
  target,
) => engine().createPrefixRenderer(target);
