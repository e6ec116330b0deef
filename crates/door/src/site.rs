//! Where the program stores to the second tier: each place has a name.

macro_rules! sites {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A place in the program that goes through the door.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Site {
            $($(#[$doc])* $name,)*
        }

        /// How many sites there are.
        pub const SITES: usize = Site::ALL.len();

        impl Site {
            /// All of them.
            pub const ALL: &[Site] = &[$(Site::$name,)*];

            /// Its name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Site::$name => $text,)*
                }
            }
        }
    };
}

sites! {
    /// A slot of the root.
    Root = "root",
    /// Its lines.
    RootWriteBack = "root.write-back",
    /// It is durable: the index may go by it.
    RootFence = "root.fence",
    /// A slot of the list of fields.
    Fields = "fields",
    /// Its lines.
    FieldsWriteBack = "fields.write-back",
    /// It is durable: what is logged may name the fields that it adds.
    FieldsFence = "fields.fence",
    /// A record of operations.
    LogRecord = "log.record",
    /// Its lines.
    LogWriteBack = "log.write-back",
    /// Its operations may be acknowledged.
    LogFence = "log.fence",
    /// The death of a row in an engraved segment.
    Stamp = "stamp",
    /// Its line.
    StampWriteBack = "stamp.write-back",
    /// Deaths are durable before their record can be trimmed.
    StampFence = "stamp.fence",
    /// The body of a segment: copied arrays.
    Body = "engrave.body",
    /// The body of a segment: what is written for the first time.
    BodyWords = "engrave.words",
    /// Deaths since the copy.
    BodyStamp = "engrave.stamp",
    /// The body's lines.
    BodyWriteBack = "engrave.write-back",
    /// The segment's slot.
    Slot = "engrave.slot",
    /// Its lines.
    SlotWriteBack = "engrave.slot-write-back",
    /// Body and slot are durable: the segment may be marked.
    BodyFence = "engrave.fence",
    /// The commit mark.
    Mark = "engrave.mark",
    /// Its line.
    MarkWriteBack = "engrave.mark-write-back",
    /// The segment is engraved: its operations leave the log.
    MarkFence = "engrave.mark-fence",
    /// A bucket of a larger array leads to the records that it has.
    Grow = "merge.grow",
    /// Its line.
    GrowWriteBack = "merge.grow-write-back",
    /// All buckets of the larger array are durable: it may be used.
    GrowFence = "merge.grow-fence",
    /// The larger array is in use.
    GrowCount = "merge.grow-count",
    /// The line that says so, which the next fence makes durable.
    GrowCountWriteBack = "merge.grow-count-write-back",
    /// What a part held when its index was closed.
    Seal = "close.seal",
    /// Its line.
    SealWriteBack = "close.seal-write-back",
    /// It is durable before the root says closed.
    SealFence = "close.seal-fence",
    /// A node's link and record.
    Link = "merge.link",
    /// Their line.
    LinkWriteBack = "merge.link-write-back",
    /// A record of the merged dictionary that nothing leads to yet.
    Record = "merge.record",
    /// Its lines.
    RecordWriteBack = "merge.record-write-back",
    /// Links and records are durable: buckets may lead to them.
    LinkFence = "merge.link-fence",
    /// A bucket leads to new records.
    Enter = "merge.enter",
    /// Its line.
    EnterWriteBack = "merge.enter-write-back",
    /// A term's head.
    Head = "merge.head",
    /// Its line.
    HeadWriteBack = "merge.head-write-back",
    /// Every term of the segment can be found and is linked: it may be marked.
    HeadFence = "merge.head-fence",
    /// A term leaves the merged dictionary.
    Unlink = "unlink",
    /// The line of the word that led to it.
    UnlinkWriteBack = "unlink.write-back",
    /// Its record may be written over.
    UnlinkFence = "unlink.fence",
    /// The oldest segment goes.
    Retire = "retire",
    /// Its mark's line.
    RetireWriteBack = "retire.write-back",
    /// Its space may be used again.
    RetireFence = "retire.fence",
}
