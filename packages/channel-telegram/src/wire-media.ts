import { z } from 'zod';

const file = { file_id: z.string().min(1), file_size: z.int().nonnegative().optional() };
const described = { ...file, mime_type: z.string().optional(), file_name: z.string().optional() };
const Described = z.object(described);

/** One size of a picture; Telegram gives several. */
const PhotoSize = z.object({ ...file, width: z.int().default(0), height: z.int().default(0) });
export type PhotoSize = z.infer<typeof PhotoSize>;

/** A file inside a message, as far as Parley reads it. Sizes in bytes. */
export type DescribedFile = z.infer<typeof Described>;

const Sticker = z.object({
  ...file,
  emoji: z.string().optional(),
  is_animated: z.boolean().default(false),
  is_video: z.boolean().default(false),
});
export type Sticker = z.infer<typeof Sticker>;

/** The fields of a message that bring a file; a message has at most one, an animation also `document`. */
export const mediaFields = {
  photo: z.array(PhotoSize).optional(),
  document: Described.optional(),
  voice: Described.optional(),
  audio: Described.optional(),
  video: Described.optional(),
  video_note: Described.optional(),
  animation: Described.optional(),
  sticker: Sticker.optional(),
};
