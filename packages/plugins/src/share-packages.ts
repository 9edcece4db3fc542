import { registerHooks } from 'node:module';
import { INSTALLATION, isBundle } from '@parley/contracts/installation';

/** What plugins may import although their own folder has no node_modules. The bundle has a module for each. */
const SHARED: ReadonlySet<string> = new Set([
  '@parley/plugins',
  '@parley/agent',
  '@parley/channels',
  '@parley/contracts',
  '@parley/prompt',
  '@parley/workspace',
  'zod',
]);

/**
 * From now on, code anywhere on this machine finds Parley's packages and zod, as if it lay beside
 * them. A copy of its own wins. Stays in force: plugins import parts of themselves when they are used.
 */
export function sharePackages(): void {
  registerHooks({
    resolve(specifier, context, next) {
      if (!SHARED.has(specifier)) return next(specifier, context);
      try {
        const found = next(specifier, context);
        if (!isBundle || !isOurs(found.url)) return found;
      } catch {
        if (!isBundle) return next(specifier, { ...context, parentURL: import.meta.url });
      }
      const name = specifier.replace('@parley/', '');
      return { url: new URL(`./${name}.mjs`, import.meta.url).href, shortCircuit: true };
    },
  });
}

/** Sources beside the bundle: a plugin must not get a second form of what runs already. */
function isOurs(url: string): boolean {
  const { href } = INSTALLATION;
  return ['packages/', 'node_modules/zod/'].some((folder) => url.startsWith(`${href}${folder}`));
}
