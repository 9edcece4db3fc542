import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Dialect, decodeText, isMissingFile, type RenderTarget, reasonOf } from '@parley/core';
import type { FilePattern } from '@parley/workspace';
import {
  createAbsent,
  type Layer,
  type LayerId,
  type LayerOptions,
  type Placement,
  PromptError,
} from './layer.ts';
import { createAbilityLayers } from './layers/abilities.ts';
import { factLayers } from './layers/facts.ts';
import { fileLayers } from './layers/files.ts';
import { ephemeralLayer, instructionLayers, safetyLayer } from './layers/instructions.ts';
import { memoryLayers } from './layers/memory.ts';
import { turnLayers } from './layers/turn.ts';
import { zeusLayers } from './layers/zeus.ts';

/** One line of a layout: a layer and its options in this layout. */
export interface LayoutEntry extends LayerOptions {
  readonly layer: LayerId;
  /** Moves a layer of the system prompt to the user message, before the person's text. */
  readonly placement?: 'user';
}

/**
 * The structure of a prompt, as plain data (P01). Safety and the ephemeral prompt are always
 * included.
 */
export interface Layout {
  readonly name: string;
  readonly layers: readonly LayoutEntry[];
  /**
   * Keeps the system prompt of the session's first turn, byte for byte (P05). Additions of plugins
   * then precede the person's text.
   */
  readonly fixedSystem?: boolean;
  /** Offers rarely used tools only once their group is open, unless the settings say otherwise. */
  readonly toolsByNeed?: boolean;
  readonly userFence?: ContextFence;
}

/** Marker lines around all text before the person's own, and a note that explains the markers. */
export interface ContextFence {
  readonly open: string;
  readonly note: string;
  readonly close: string;
}

/**
 * Workspace file limits from the settings, which replace the layout's limits. When absent, the
 * layout's limits apply.
 */
export interface FileLimits {
  readonly fileCharacters?: number | undefined;
  readonly totalFileCharacters?: number | undefined;
  /** The number of days whose notes are shown. */
  readonly dailyNotes?: number | undefined;
}

/** Layers whose length limit does not apply to a file. */
const NO_FILES: ReadonlySet<LayerId> = new Set(['group-context', 'own-messages']);

/** Returns the layout with different limits for the workspace files that it shows. */
export function applyFileLimits(layout: Layout, limits: FileLimits): Layout {
  const {
    fileCharacters: characters,
    totalFileCharacters: charactersInAll,
    dailyNotes: days,
  } = limits;
  const layers = layout.layers.map((entry) => ({
    ...entry,
    ...(characters !== undefined && !NO_FILES.has(entry.layer) && { characters }),
    ...(charactersInAll !== undefined && { charactersInAll }),
    ...(days !== undefined && { days }),
  }));
  return { ...layout, layers };
}

export interface LayoutStep {
  readonly layer: Layer;
  readonly placement: Placement;
  readonly options: LayerOptions;
  /** The workspace files that the layer may read; null if neither layer nor layout names any. */
  readonly reads: readonly FilePattern[] | null;
}

interface ResolvedLayout {
  readonly steps: readonly LayoutStep[];
  /** The ephemeral prompt comes after all other layers, wherever the layout puts it (P13). */
  readonly last: LayoutStep;
}

/**
 * Looks up the layers that a layout names. Safety comes first if the layout omits it (P12). Throws
 * PromptError `layer-unknown` or `layout-duplicate`.
 */
export function resolveLayoutSteps(layers: LayerRegistry, layout: Layout): ResolvedLayout {
  assertUniqueLayers(layout);
  const named = layout.layers.some(({ layer }) => layer === safetyLayer.id);
  const entries = named ? layout.layers : [{ layer: safetyLayer.id }, ...layout.layers];
  const ephemeral = entries.find(({ layer }) => layer === ephemeralLayer.id);
  return {
    steps: entries
      .filter((entry) => entry !== ephemeral)
      .map((entry) => resolveLayoutEntry(entry, layers, layout.name)),
    last: createLayoutStep(ephemeralLayer, ephemeral ?? { layer: ephemeralLayer.id }),
  };
}

function resolveLayoutEntry(entry: LayoutEntry, layers: LayerRegistry, layout: string): LayoutStep {
  // The safety layer is never looked up: the built-in layer is used even if a registry contains
  // another layer with its name.
  if (entry.layer === safetyLayer.id)
    return createLayoutStep(safetyLayer, { layer: safetyLayer.id });
  const layer = layers.get(entry.layer);
  if (layer !== undefined) return createLayoutStep(layer, entry);
  throw new PromptError(
    'layer-unknown',
    `The layout "${layout}" names the layer "${entry.layer}", which does not exist. Known layers: ${layers.ids.join(', ')}.`,
  );
}

function createLayoutStep(layer: Layer, entry: LayoutEntry): LayoutStep {
  const { layer: _, placement = layer.placement, ...options } = entry;
  const declares = layer.reads !== undefined || options.files !== undefined;
  const reads = declares ? [...(layer.reads ?? []), ...(options.files ?? [])] : null;
  return { layer, placement, options, reads };
}

function assertUniqueLayers(layout: Layout): void {
  const ids = layout.layers.map(({ layer }) => layer);
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice === undefined) return;
  throw new PromptError(
    'layout-duplicate',
    `The layout "${layout.name}" names the layer "${twice}" twice. Remove one of them.`,
  );
}

/**
 * The layers that layouts can name. A registry is immutable; adding a plugin's layers creates a new
 * one.
 */
export interface LayerRegistry {
  get(id: LayerId): Layer | undefined;
  readonly ids: readonly LayerId[];
}

/** Ids that the assembler assigns to the hooks' additions and to a layout's fence. */
const ASSEMBLERS_OWN = /^(addition-\d+|context-(begin|end))$/;

/**
 * Collects layers by id. Safety (P12) and the ephemeral prompt (P13) are always included and cannot
 * be replaced. Throws PromptError `layer-reserved` or `layer-duplicate`.
 */
export function createLayerRegistry(layers: readonly Layer[]): LayerRegistry {
  const fixed = [safetyLayer, ephemeralLayer];
  const byId = new Map<LayerId, Layer>(fixed.map((layer) => [layer.id, layer]));
  for (const layer of layers) {
    if (fixed.some(({ id }) => id === layer.id) || ASSEMBLERS_OWN.test(layer.id)) {
      throw new PromptError(
        'layer-reserved',
        `The layer id "${layer.id}" is fixed: give the layer another id. Nothing can replace the ${layer.id} layer.`,
      );
    }
    if (byId.has(layer.id)) {
      throw new PromptError(
        'layer-duplicate',
        `Two prompt layers have the id "${layer.id}". Rename one of them.`,
      );
    }
    byId.set(layer.id, layer);
  }
  return { get: (id) => byId.get(id), ids: [...byId.keys()] };
}

/**
 * The built-in layers, for `createLayerRegistry`, which adds safety and the ephemeral prompt
 * itself. `channelFormats` comes from `readChannelFormats`.
 */
export function createBuiltInLayers(channelFormats: ChannelFormats = {}): readonly Layer[] {
  return [
    ...instructionLayers,
    ...fileLayers,
    ...createAbilityLayers(),
    ...memoryLayers,
    ...factLayers,
    ...turnLayers,
    ...zeusLayers,
    createFormatLayer(channelFormats),
  ];
}

export type ChannelFormats = Readonly<Partial<Record<Dialect, string>>>;

/**
 * Reads the `<dialect>.md` files in a folder, once, at startup. A dialect without a file has no
 * note. Throws PromptError `format-unreadable`.
 */
export async function readChannelFormats(folder: string): Promise<ChannelFormats> {
  const notes = await Promise.all(
    Dialect.options.map(
      async (dialect) => [dialect, await readFormatNote(folder, dialect)] as const,
    ),
  );
  return Object.fromEntries(notes.filter(([, note]) => note !== ''));
}

async function readFormatNote(folder: string, dialect: Dialect): Promise<string> {
  const file = join(folder, `${dialect}.md`);
  try {
    return decodeText(await readFile(file)).text.trim();
  } catch (error) {
    if (isMissingFile(error)) return '';
    throw new PromptError(
      'format-unreadable',
      `The format note ${file} cannot be read (${reasonOf(error)}). Make it a readable text file, or remove it.`,
    );
  }
}

/** The note for a dialect without a file. */
const PLAIN_NOTE = 'Write ordinary Markdown; Parley turns it into what this chat can show.';

/** In characters; longer than any answer from a model. */
const MAX_ANSWER = 50_000;

/**
 * Notes on formatting for this chat's platform, from `config/channel-formats`;
 * `formats/<dialect>.md` in the workspace replaces them (M07). The renderer enforces the limits of
 * a platform (M02); these notes only improve the appearance.
 */
export function createFormatLayer(notes: ChannelFormats): Layer {
  return {
    id: 'format',
    volatility: 'session',
    placement: 'system',
    modes: ['full', 'light'],
    reads: ['formats/'],
    async render({ target, view }, { heading = '## Formatting', characters }) {
      if (target === undefined) return createAbsent('this answer is not shown in a chat');
      const { dialect } = target;
      const own = await view.read(`formats/${dialect}.md`, characters);
      if (own.kind === 'file') {
        const { source, audience, cut } = own;
        return { text: `${heading}\n${own.text}`, source, audience, cut };
      }
      const text = `${heading}\n${notes[dialect] ?? PLAIN_NOTE}${formatLengthLimitNote(target)}`;
      return { text, source: `format ${dialect}`, audience: { kind: 'everyone' } };
    },
  };
}

/** States the length limit declared by the adapter, unless no answer is that long. */
function formatLengthLimitNote({ maxLength, unit }: RenderTarget): string {
  if (maxLength > MAX_ANSWER) return '';
  const what = unit === 'byte' ? 'bytes' : 'characters';
  return ` One message holds ${maxLength.toLocaleString('en-US')} ${what}; what is longer is sent as several.`;
}
