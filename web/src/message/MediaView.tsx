import { memo, useEffect, useRef, useState, type ReactNode } from "react";
import type { Media } from "../model";
import { Icon } from "./icons";
import { safeImage, safeLink } from "./links";
import { clean } from "./text";

/** A picture, a sound or a file of a message. What would be fetched from another host is a link. */
export const MediaView = memo(function MediaView({ media }: { media: Media }): ReactNode {
  const name = clean(media.name ?? "") || (media.kind === "image" ? "a picture" : media.kind === "audio" ? "a recording" : "a file");
  if (media.kind === "image" && safeImage(media.src)) return <ImageView src={media.src} name={name} />;
  if (media.kind === "audio" && own(media.src)) {
    return (
      <figure className="media-audio">
        <figcaption><Icon name="audio" />{name}</figcaption>
        <audio controls preload="metadata" src={media.src} aria-label={name} />
      </figure>
    );
  }
  const detail = media.mimeType ? <span className="soft">{clean(media.mimeType)}</span> : null;
  const icon = <Icon name={media.kind} />;
  if (own(media.src)) return <a className="media-file" href={media.src} download={name}>{icon}<span>{name}</span>{detail}<Icon name="download" label="download" /></a>;
  const url = safeLink(media.src);
  if (url) return <a className="media-file" href={url} target="_blank" rel="noopener noreferrer">{icon}<span>{name}</span>{detail}</a>;
  return <span className="media-file" title={clean(media.src)}>{icon}<span>{name}</span>{detail}</span>;
});

function own(src: string): boolean {
  return /^(?:data:|blob:)/i.test(src) || /^\/v1\/blobs\/[0-9a-f]{64}$/.test(src);
}

/** A picture that opens in full size. src must have passed safeImage. */
export function ImageView({ src, name, alt }: { src: string; name: string; alt?: string }): ReactNode {
  const [zoomed, setZoomed] = useState(false);
  const [broken, setBroken] = useState(false);
  if (broken) return <span className="media-file"><Icon name="image" /><span>{name}</span><span className="soft">cannot be shown</span></span>;
  return (
    <>
      <button type="button" className="media-image" onClick={() => setZoomed(true)} aria-label={`Enlarge ${name}`}>
        <img src={src} alt={alt ?? name} loading={src.startsWith("data:") ? undefined : "lazy"} decoding="async" onError={() => setBroken(true)} />
      </button>
      {zoomed && <Zoom src={src} name={name} onClose={() => setZoomed(false)} />}
    </>
  );
}

function Zoom({ src, name, onClose }: { src: string; name: string; onClose: () => void }): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="zoom" aria-label={name} onClose={onClose} onClick={(e) => e.target === e.currentTarget && dialog.current?.close()}>
      <div className="zoom-head">
        <span>{name}</span>
        <button type="button" className="code-button" onClick={() => dialog.current?.close()}><Icon name="close" label="Close" /></button>
      </div>
      <img src={src} alt={name} />
    </dialog>
  );
}
