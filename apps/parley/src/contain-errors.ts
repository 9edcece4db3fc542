import { blameAdapter } from '@parley/channels';
import { type Logger, reasonOf } from '@parley/contracts';

/** Where the code of a plugin lies, and how the settings name it. */
export interface PluginPlace {
  readonly use: string;
  /** Absolute, without links. */
  readonly folder: string;
}

/** Keeps the process alive when a plugin or an adapter throws where nobody waits. */
export interface Containment {
  /** To be called before any code of the plugin runs. */
  add(place: PluginPlace): void;
  stop(): void;
}

/**
 * An error that nobody catches restarts the adapter it comes from (D12), and is logged and survived where
 * it comes from the code of a plugin (P16): from a timer or an event. Every other one ends the process.
 */
export function containErrors(log: Logger): Containment {
  const places: PluginPlace[] = [];
  const onError = (error: unknown): void => {
    if (blameAdapter(error)) return;
    const plugin = culprit(error, places);
    // Node prints it and ends the process, as it does without this listener.
    if (plugin === undefined) throw error;
    log.error({ plugin, reason: reasonOf(error) }, 'a plugin threw where nobody waited for it');
  };
  process.on('uncaughtException', onError);
  return {
    add: (place) => void places.push(place),
    stop: () => void process.off('uncaughtException', onError),
  };
}

/** The plugin whose code is on the stack of an error; undefined where none is, or there is no stack. */
export function culprit(error: unknown, places: readonly PluginPlace[]): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return places.find(({ folder }) => frames.some((frame) => frame.includes(`${folder}/`)))?.use;
}
